import { useMessages } from '../i18n/index.ts'
import { commandKey } from './keys.ts'
import { Dialog, Kbd } from './ui.tsx'

/** Every key there is. */
export function ShortcutList({ onClose }: { onClose: () => void }) {
  const m = useMessages()
  const groups: [string, [string[], string][]][] = [
    [
      m.keysGroups.anywhere,
      [
        [[`${commandKey} K`], m.keys.search],
        [['N'], m.keys.create],
        [['J', 'K', 'Alt ↓', 'Alt ↑'], m.keys.nextSession],
        [['.'], m.keys.needsYou],
        [[`${commandKey} \\`], m.keys.rail],
        [['?'], m.keys.help],
      ],
    ],
    [
      m.keysGroups.session,
      [
        [['C'], m.keys.write],
        [['A', 'Alt A'], m.keys.allow],
        [['D', 'Alt D'], m.keys.deny],
        [['Esc Esc'], m.keys.stop],
        [['G'], m.keys.newest],
      ],
    ],
    [
      m.keysGroups.writing,
      [
        [['Enter'], m.keys.send],
        [[`${commandKey} Enter`], m.keys.queue],
        [['Shift Enter'], m.keys.newLine],
        [['Esc'], m.keys.leave],
      ],
    ],
  ]
  return (
    <Dialog title={m.keysTitle} onClose={onClose}>
      {groups.map(([name, keys]) => (
        <section key={name} className="mb-4 last:mb-0">
          <h3 className="mb-1.5 text-xs font-medium text-faint">{name}</h3>
          <dl className="flex flex-col gap-1">
            {keys.map(([caps, what]) => (
              <div key={caps.join()} className="flex items-center justify-between gap-4">
                <dt className="text-sm">{what}</dt>
                <dd className="flex gap-1">
                  {caps.map((cap) => (
                    <Kbd key={cap}>{cap}</Kbd>
                  ))}
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  )
}
