/** Words with commands in them: what stands between backticks is shown as code. */
export function Words({ text }: { text: string }) {
  return text.split('`').map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      <code key={part} className="rounded bg-hover px-1 text-[0.929em]">
        {part}
      </code>
    ),
  )
}
