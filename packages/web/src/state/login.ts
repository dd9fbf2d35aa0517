/** Whether the link that opened this page was refused; told on the page that asks for a new one. */
let refused = false

export const noteLoginRefused = (): void => {
  refused = true
}
export const wasLoginRefused = (): boolean => refused
