/** The small parts everything is built of. Native elements wherever one does the job. */
import { Check, Copy, LoaderCircle, X, type LucideIcon } from 'lucide-react'
import { useEffect, useId, useRef, useState, type ComponentProps, type ReactNode } from 'react'
import { useMessages } from '../i18n/index.ts'
import { copyText } from '../state/clipboard.ts'
import type { Mood } from '../state/needs.ts'

/** Joins class names, leaving out what is false. */
export const cx = (...names: (string | false | null | undefined)[]): string => names.filter(Boolean).join(' ')

type ButtonProps = ComponentProps<'button'> & {
  look?: 'primary' | 'plain' | 'quiet' | 'danger'
  icon?: LucideIcon
  busy?: boolean
  size?: 'small' | 'normal' | 'tiny'
}

const LOOKS = {
  primary: 'bg-accent text-on-accent hover:bg-accent-strong border-transparent',
  plain: 'bg-raised text-text hover:bg-hover border-line-strong',
  quiet: 'text-muted hover:bg-hover hover:text-text border-transparent',
  danger: 'bg-raised text-error hover:bg-error-soft border-line-strong',
} as const

const SIZES = {
  tiny: 'h-6 px-2 text-xs max-md:h-8',
  small: 'h-7 px-2.5 text-sm max-md:h-9',
  normal: 'h-8 px-3 text-sm max-md:h-10',
} as const

export function Button({ look = 'plain', size = 'normal', icon: Icon, busy = false, className, children, disabled, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      className={cx(
        'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap transition-colors duration-100 select-none disabled:opacity-50',
        SIZES[size],
        LOOKS[look],
        className,
      )}
      disabled={disabled === true || busy}
      {...rest}
    >
      {busy ? <LoaderCircle size={15} className="spin" aria-hidden /> : Icon !== undefined && <Icon size={15} aria-hidden />}
      {children}
    </button>
  )
}

type IconButtonProps = ComponentProps<'button'> & {
  icon: LucideIcon
  label: string
  size?: number
  box?: 'small' | 'normal'
  keys?: string
}

/** A button of one picture; its name is read out and shown on hover. */
export function IconButton({ icon: Icon, label, size = 16, box = 'normal', keys, className, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={keys === undefined ? label : `${label} (${keys})`}
      className={cx(
        'inline-flex shrink-0 items-center justify-center rounded-md text-muted transition-colors duration-100 hover:bg-hover hover:text-text disabled:opacity-40',
        box === 'small' ? 'size-6 max-md:size-8' : 'size-7 max-md:size-9',
        className,
      )}
      {...rest}
    >
      <Icon size={size} aria-hidden />
    </button>
  )
}

export function CopyButton({
  text,
  className,
  box = 'small',
}: {
  text: string | (() => string)
  className?: string
  box?: 'small' | 'normal'
}) {
  const m = useMessages()
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 1_500)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = (): void => {
    void copyText(typeof text === 'string' ? text : text()).then(setCopied)
  }
  return (
    <IconButton
      icon={copied ? Check : Copy}
      label={copied ? m.copied : m.copy}
      size={14}
      box={box}
      onClick={copy}
      {...(className === undefined ? {} : { className })}
    />
  )
}

const DOTS: { readonly [mood in Mood]: string } = {
  working: 'bg-accent dot-live',
  waiting: 'bg-warn-dot',
  stalled: 'border-2 border-warn-dot',
  error: 'bg-error',
  held: 'border-2 border-faint',
  idle: 'bg-line-strong',
}

/** The state of a session at a glance; its word is there for those who do not see the colour. */
export function Dot({ mood }: { mood: Mood }) {
  const m = useMessages()
  return (
    <span className="inline-flex size-4 shrink-0 items-center justify-center" title={m.moods[mood]}>
      <span className={cx('size-2 rounded-full', DOTS[mood])} aria-hidden />
      <span className="sr-only">{m.moods[mood]}</span>
    </span>
  )
}

export function Kbd({ children }: { children: ReactNode }) {
  return (
    <kbd className="rounded border border-line-strong bg-sunken px-1 py-px font-mono text-[0.714rem] leading-none text-muted">
      {children}
    </kbd>
  )
}

export function Spinner({ className }: { className?: string }) {
  return <LoaderCircle size={14} className={cx('spin shrink-0', className)} aria-hidden />
}

type FieldProps = {
  label: string
  hint?: ReactNode
  error?: string | null
  children: (props: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true }) => ReactNode
}

export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId()
  const noteId = `${id}-note`
  const hasNote = hint !== undefined || (error !== undefined && error !== null)
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      {children({
        id,
        ...(hasNote ? { 'aria-describedby': noteId } : {}),
        ...(typeof error === 'string' ? { 'aria-invalid': true as const } : {}),
      })}
      {hasNote && (
        <p id={noteId} className={cx('text-xs', typeof error === 'string' ? 'text-error' : 'text-muted')}>
          {error ?? hint}
        </p>
      )}
    </div>
  )
}

/** Look of a text field; `mono` for paths, addresses and names of machines. */
export const inputClass =
  'w-full rounded-md border border-line-strong bg-bg px-2.5 py-1.5 text-text hover:border-faint aria-[invalid=true]:border-error disabled:opacity-60 max-md:text-[16px]'

type MenuItem = { label: string; icon?: LucideIcon; onSelect: () => void; danger?: boolean; keys?: string } | 'line'

/** A button that opens a list of actions; arrows move, Escape closes, focus goes back. */
export function Menu({
  label,
  icon,
  items,
  align = 'right',
}: {
  label: string
  icon: LucideIcon
  items: MenuItem[]
  align?: 'left' | 'right'
}) {
  const [open, setOpen] = useState(false)
  const list = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (!open) return
    list.current?.querySelector<HTMLElement>('[role=menuitem]')?.focus()
    const away = (event: PointerEvent): void => {
      if (!(event.target instanceof Node) || list.current?.parentElement?.contains(event.target) !== true) setOpen(false)
    }
    document.addEventListener('pointerdown', away)
    return () => document.removeEventListener('pointerdown', away)
  }, [open])
  const close = (): void => {
    setOpen(false)
    button.current?.focus()
  }
  return (
    <div className="relative">
      <IconButton ref={button} icon={icon} label={label} aria-haspopup="menu" aria-expanded={open} onClick={() => setOpen(!open)} />
      {open && (
        <div
          ref={list}
          role="menu"
          aria-label={label}
          onKeyDown={(event) => moveInMenu(event, close)}
          className={cx(
            'absolute top-full z-30 mt-1 min-w-48 rounded-lg border border-line bg-raised p-1 shadow-float',
            align === 'right' ? 'right-0' : 'left-0',
          )}
        >
          {items.map((item, index) =>
            item === 'line' ? (
              <hr key={`line-${String(index)}`} className="my-1 border-line" />
            ) : (
              <button
                key={item.label}
                type="button"
                role="menuitem"
                tabIndex={-1}
                className={cx(
                  'flex w-full items-center gap-2 rounded-md px-2 py-1.5 text-left text-sm whitespace-nowrap hover:bg-hover focus:bg-hover focus:outline-none',
                  item.danger === true && 'text-error',
                )}
                onClick={() => {
                  close()
                  item.onSelect()
                }}
              >
                {item.icon !== undefined && <item.icon size={15} aria-hidden className="shrink-0 opacity-70" />}
                <span className="grow">{item.label}</span>
                {item.keys !== undefined && <Kbd>{item.keys}</Kbd>}
              </button>
            ),
          )}
        </div>
      )}
    </div>
  )
}

function moveInMenu(event: React.KeyboardEvent<HTMLDivElement>, close: () => void): void {
  if (event.key === 'Escape' || event.key === 'Tab') {
    event.stopPropagation()
    return close()
  }
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
  if (step === 0) return
  event.preventDefault()
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>('[role=menuitem]')]
  const at = items.findIndex((item) => item === document.activeElement)
  items[(at + step + items.length) % items.length]?.focus()
}

/** A modal dialog; the browser keeps focus inside and closes it on Escape. */
export function Dialog({
  title,
  onClose,
  children,
  wide = false,
}: {
  title: string
  onClose: () => void
  children: ReactNode
  wide?: boolean
}) {
  const m = useMessages()
  const ref = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    ref.current?.showModal()
    // What the dialog is for gets the focus, not its first button.
    ;(ref.current?.querySelector<HTMLElement>('[data-focus]') ?? ref.current)?.focus()
  }, [])
  return (
    <dialog
      ref={ref}
      aria-labelledby={titleId}
      tabIndex={-1}
      onClose={onClose}
      onPointerDown={(event) => {
        if (event.target === ref.current) onClose()
      }}
      className={cx(
        'm-auto max-h-[90dvh] w-[calc(100%-2rem)] rounded-xl border border-line bg-raised p-0 text-text shadow-float',
        wide ? 'max-w-2xl' : 'max-w-md',
      )}
    >
      <div className="flex items-center justify-between gap-2 border-b border-line py-2 pr-2 pl-4">
        <h2 id={titleId} className="font-semibold">
          {title}
        </h2>
        <IconButton icon={X} label={m.close} onClick={onClose} />
      </div>
      <div className="p-4">{children}</div>
    </dialog>
  )
}

/** Asks before what cannot be undone. */
export function Confirm({
  title,
  text,
  action,
  onConfirm,
  onClose,
}: {
  title: string
  text: string
  action: string
  onConfirm: () => void
  onClose: () => void
}) {
  const m = useMessages()
  return (
    <Dialog title={title} onClose={onClose}>
      <p className="text-muted">{text}</p>
      <div className="mt-4 flex justify-end gap-2">
        <Button onClick={onClose}>{m.cancel}</Button>
        <Button
          look="danger"
          data-focus
          onClick={() => {
            onClose()
            onConfirm()
          }}
        >
          {action}
        </Button>
      </div>
    </Dialog>
  )
}

/** The time, read again every so often. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}
