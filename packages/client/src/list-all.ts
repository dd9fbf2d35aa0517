import { LIMITS, type Page } from './protocol/index.ts'

/**
 * All items of a paged list, read in pages of the largest size, in the order of the host; `list` is any list call of the client, for
 * example `listAll((query) => client.agents.list(query))`. Rejects with what a page rejects with.
 */
export async function listAll<T>(list: (query: { limit: number; cursor?: string }) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = []
  let cursor: string | null = null
  do {
    const page: Page<T> = await list({ limit: LIMITS.pageMax, ...(cursor === null ? {} : { cursor }) })
    items.push(...page.items)
    cursor = page.nextCursor
  } while (cursor !== null)
  return items
}
