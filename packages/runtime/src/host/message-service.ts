/** `AgentSessionMessageService`: reads of messages for those who carry them somewhere. */
import type { Message, MessagePart } from '@wheelhouse/client/protocol'
import type { MessageId } from '../core/types.ts'
import type { Write } from '../core/write.ts'
import type { ResolvedContent, Store } from '../store/store.ts'

/** Files the host manages; any other path or address is not part of a result. */
const MANAGED_FILE = '/v1/blobs/'

export class AgentSessionMessageService {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** The input of a turn as the agent gets it. */
  input(id: MessageId): Message | null {
    return this.#store.readMessage(id)
  }

  /**
   * The frozen content of results: text and managed files of the terminal row, nothing else (spec,
   * Completion results).
   */
  results(writes: readonly Write[]): ResolvedContent {
    const content: ResolvedContent = {}
    for (const write of writes) {
      if (write.type !== 'insert-result') continue
      const source = this.#store.readMessage(write.row.sourceMessageId)
      const parts = source === null || source.role !== 'assistant' ? [] : source.parts.filter(isDeliverable)
      content[write.row.id] = { parts, metadata: {} }
    }
    return content
  }
}

function isDeliverable(part: MessagePart): boolean {
  return part.type === 'text' || (part.type === 'file' && part.url.startsWith(MANAGED_FILE))
}
