/** What an operator watches: sessions, connections, event loop. No message, name or path is a label. */
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client'
import type { Host } from '../host/host.ts'
import { sessionStatus } from '../core/view.ts'

export function collectMetrics(registry: Registry, host: Host): void {
  collectDefaultMetrics({ register: registry })
  void new Gauge({
    name: 'wheelhouse_sessions',
    help: 'Sessions in memory by status',
    labelNames: ['status'],
    registers: [registry],
    collect() {
      this.reset()
      for (const session of host.engine.runtime.loaded()) this.inc({ status: sessionStatus(session) })
    },
  })
  void new Gauge({
    name: 'wheelhouse_connections',
    help: 'Live agent connections',
    registers: [registry],
    collect() {
      this.set(host.engine.connections.size)
    },
  })
}
