/// <reference lib="webworker" />
/** The SharedWorker that holds the stream. Each tab is a port. */
import { createClient } from '@wheelhouse/client'
import { Hub } from './hub.ts'
import type { HubMessage, TabMessage } from './link-protocol.ts'

declare const self: SharedWorkerGlobalScope

const client = createClient({ baseUrl: '' })
const hub = new Hub({ openStream: (options) => client.stream(options), now: () => performance.now() })
let ports = 0

self.addEventListener('connect', (event) => {
  const port = event.ports[0]
  if (port === undefined) return
  ports += 1
  const id = `port-${String(ports)}`
  port.addEventListener('message', (message: MessageEvent<TabMessage>) => hub.hear(id, message.data, post))
  const post = (message: HubMessage): void => port.postMessage(message)
  port.start()
})
