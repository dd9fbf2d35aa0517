export function impossible(_state: string, _event: string): string | null {
  return null
}
