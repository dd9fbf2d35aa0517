/** The driver behind the simulated agents. */
import type { AgentSessionRuntimeDriver } from '../packages/runtime/src/driver/contract.ts'
import { PLANNED_THROW, SimConnection, type AgentWitness } from './agent.ts'
import type { Prng } from './prng.ts'
import type { Temper } from './temper.ts'

export function simDriver(connections: SimConnection[], random: Prng, temper: Temper, witness: AgentWitness): AgentSessionRuntimeDriver {
  return {
    type: 'sim',
    name: 'Simulated agent',
    capabilities: {
      steer: 'at-tool',
      interrupt: true,
      resume: true,
      approvals: ['tool'],
      permissionModes: ['default'],
      autonomousTurns: true,
      compaction: { manual: true, automatic: true },
      contextUsage: true,
      reasoning: false,
    },
    probe: async () => ({ installed: true, version: '1', advice: null }),
    connect(input) {
      if (random.chance(temper.throws)) throw new Error(PLANNED_THROW)
      const connection = new SimConnection(input, random, temper, witness)
      connections.push(connection)
      return connection
    },
  }
}
