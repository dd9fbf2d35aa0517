/** Puts text on the clipboard; false when the browser forbids it. */
export async function copyText(text: string): Promise<boolean> {
  // Pages on plain http from another machine have no clipboard object.
  if (navigator.clipboard === undefined) return copyBySelection(text)
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // Forbidden for this page: the old way may still be open.
    return copyBySelection(text)
  }
}

function copyBySelection(text: string): boolean {
  const field = document.createElement('textarea')
  field.value = text
  field.style.position = 'fixed'
  field.style.opacity = '0'
  document.body.append(field)
  field.select()
  const done = document.execCommand('copy')
  field.remove()
  return done
}
