/** Points a session to another folder. */
import { useState } from 'react'
import { useMessages } from '../i18n/index.ts'
import { repointSession } from '../state/actions.ts'
import { Button, cx, Dialog, Field, inputClass } from './ui.tsx'

/** `folder` is the path the session has now. */
export function FolderDialog({ sessionId, folder, onClose }: { sessionId: string; folder: string; onClose: () => void }) {
  const m = useMessages()
  const [path, setPath] = useState(folder)
  return (
    <Dialog title={m.changeFolder} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void repointSession(sessionId, path.trim()).then((done) => done && onClose())
        }}
      >
        <Field label={m.folderPath} hint={m.folderHint}>
          {(props) => (
            <input
              {...props}
              className={cx(inputClass, 'font-mono text-sm')}
              value={path}
              onChange={(event) => setPath(event.target.value)}
              required
            />
          )}
        </Field>
        <div className="mt-4 flex justify-end gap-2">
          <Button onClick={onClose}>{m.cancel}</Button>
          <Button type="submit" look="primary">
            {m.save}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
