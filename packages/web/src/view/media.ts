import { useSyncExternalStore } from 'react'

/** Below this the rail and the place are two screens; the same width as Tailwind's `md`. */
const NARROW = '(max-width: 767.98px)'

/** A finger is what points: its keyboard has no Shift-Enter. */
export const isTouch = matchMedia('(pointer: coarse)').matches

/** Whether the window is as narrow as a phone. */
export function useIsNarrow(): boolean {
  return useSyncExternalStore(
    (listener) => {
      const query = matchMedia(NARROW)
      query.addEventListener('change', listener)
      return () => query.removeEventListener('change', listener)
    },
    () => matchMedia(NARROW).matches,
  )
}
