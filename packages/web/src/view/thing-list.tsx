/** The list of a place: loading, empty, or a row for each thing that leads to its form. */
import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { ListSkeleton } from './forms.tsx'
import { Link } from './link.tsx'

type Thing = { id: string; name: string }

type Props<T extends Thing> = {
  /** Undefined while they load. */
  things: readonly T[] | undefined
  empty: { title: string; hint: string }
  icon: LucideIcon
  href: (thing: T) => string
  /** The second line; what is undefined is left out. */
  facts: (thing: T) => (string | undefined)[]
  /** At the end of the row. */
  aside: (thing: T) => ReactNode
}

export function ThingList<T extends Thing>({ things, empty, icon: Icon, href, facts, aside }: Props<T>) {
  if (things === undefined) return <ListSkeleton />
  if (things.length === 0)
    return (
      <div className="py-10 text-center">
        <p className="font-medium">{empty.title}</p>
        <p className="text-muted">{empty.hint}</p>
      </div>
    )
  return (
    <ul className="divide-y divide-line rounded-xl border border-line">
      {things.map((thing) => (
        <li key={thing.id}>
          <Link href={href(thing)} className="flex items-center gap-3 px-4 py-3 hover:bg-hover">
            <Icon size={18} className="shrink-0 text-faint" aria-hidden />
            <span className="min-w-0 grow">
              <span className="block truncate font-medium">{thing.name}</span>
              <span className="block truncate text-sm text-muted">
                {facts(thing)
                  .filter((fact) => fact !== undefined)
                  .join(' · ')}
              </span>
            </span>
            {aside(thing)}
          </Link>
        </li>
      ))}
    </ul>
  )
}
