/** Keeps a growing list at its end as long as the reader is at its end. */
import { useCallback, useEffect, useRef, useState, type RefObject } from 'react'

/** How near the end counts as at the end: a line of slack, so that a growing line does not let go. */
const END_PX = 48

/**
 * The end stays in sight whatever changes its height: text that streams in, blocks that are measured,
 * the window, what stands below. Only the reader's own scrolling upwards lets go; coming back to the
 * end takes hold again.
 */
export function useStick(
  scroller: RefObject<HTMLElement | null>,
  content: RefObject<HTMLElement | null>,
  beginsAtEnd: boolean,
): { atEnd: boolean; toEnd: () => void } {
  const [atEnd, setAtEnd] = useState(beginsAtEnd)
  const stuck = useRef(beginsAtEnd)
  const toEnd = useCallback(() => {
    const element = scroller.current
    if (element === null) return
    stuck.current = true
    setAtEnd(true)
    element.scrollTop = element.scrollHeight
  }, [scroller])
  useEffect(() => {
    const element = scroller.current
    const inner = content.current
    if (element === null || inner === null) return
    let lastTop = element.scrollTop
    let lastHeight = element.scrollHeight
    const onScroll = (): void => {
      const { scrollTop, scrollHeight, clientHeight } = element
      if (scrollHeight - scrollTop - clientHeight <= END_PX) stuck.current = true
      // A list that became shorter moves the scroll up by itself; that is not the reader.
      else if (scrollTop < lastTop - 1 && scrollHeight >= lastHeight) stuck.current = false
      lastTop = scrollTop
      lastHeight = scrollHeight
      setAtEnd(stuck.current)
    }
    const observer = new ResizeObserver(() => {
      if (stuck.current) element.scrollTop = element.scrollHeight
    })
    observer.observe(element)
    observer.observe(inner)
    element.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', onScroll)
    }
  }, [scroller, content])
  return { atEnd, toEnd }
}
