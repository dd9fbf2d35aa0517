import type { ComponentProps } from 'react'
import { go } from '../state/route.ts'

/** A link inside the app: a real address (new tab, copy), followed without loading the page anew. */
export function Link({ href, onClick, ...rest }: ComponentProps<'a'> & { href: string }) {
  return (
    <a
      href={href}
      onClick={(event) => {
        onClick?.(event)
        const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
        if (!plain || event.defaultPrevented) return
        event.preventDefault()
        go(href)
      }}
      {...rest}
    />
  )
}
