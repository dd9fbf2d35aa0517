/** Keys that work on the whole page. */
import { useEffect, useRef } from 'react'

/** Whether the key goes into a text field, so that plain letters are text. */
export function isTyping(event: KeyboardEvent): boolean {
  const { target } = event
  if (!(target instanceof HTMLElement)) return false
  return (
    target.isContentEditable ||
    target instanceof HTMLInputElement ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement
  )
}

/** Calls `press` for every key outside dialogs; anything but `false` means it was used. */
export function useKeys(press: (event: KeyboardEvent) => unknown): void {
  const latest = useRef(press)
  useEffect(() => {
    latest.current = press
  })
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.isComposing || document.querySelector('dialog[open]') !== null) return
      if (latest.current(event) !== false) event.preventDefault()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}

/** How this system writes the command key. */
export const commandKey: string = /mac|iphone|ipad/i.test(navigator.userAgent) ? '⌘' : 'Ctrl'
