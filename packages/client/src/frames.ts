/** Server-sent events as text becomes frames (WHATWG HTML, 9.2.6), for streams read by `fetch`. */

/** One dispatched event. */
export type Frame = { id: string | null; event: string; data: string }

/** A frame larger than this is no event of ours; the reader gives up instead of filling the memory. */
const FRAME_MAX_CHARS = 64 * 1024 * 1024

/**
 * Makes an incremental parser: give it text as it comes, cut anywhere; it returns the frames that
 * are complete. Frames without data are not dispatched. Throws RangeError on an endless frame.
 */
export function createFrameParser(): (text: string) => Frame[] {
  let rest = ''
  let id: string | null = null
  let event = ''
  let data: string[] = []

  const takeLine = (line: string, frames: Frame[]): void => {
    if (line === '') {
      if (data.length > 0) frames.push({ id, event: event === '' ? 'message' : event, data: data.join('\n') })
      id = null
      event = ''
      data = []
      return
    }
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const raw = colon < 0 ? '' : line.slice(colon + 1)
    const value = raw.startsWith(' ') ? raw.slice(1) : raw
    if (field === 'data') data.push(value)
    else if (field === 'event') event = value
    else if (field === 'id') id = value
  }

  return (text) => {
    const frames: Frame[] = []
    const whole = rest + text
    let from = 0
    for (;;) {
      const end = lineEnd(whole, from)
      if (end === null) break
      takeLine(whole.slice(from, end.at), frames)
      from = end.next
    }
    rest = whole.slice(from)
    if (rest.length > FRAME_MAX_CHARS) throw new RangeError('an event of the stream has no end')
    return frames
  }
}

/** Next line end; a CR at the very end waits, since an LF may follow. */
function lineEnd(text: string, from: number): { at: number; next: number } | null {
  const lf = text.indexOf('\n', from)
  const cr = text.indexOf('\r', from)
  if (cr >= 0 && (lf < 0 || cr < lf)) {
    if (cr === text.length - 1) return null
    return { at: cr, next: text[cr + 1] === '\n' ? cr + 2 : cr + 1 }
  }
  return lf < 0 ? null : { at: lf, next: lf + 1 }
}
