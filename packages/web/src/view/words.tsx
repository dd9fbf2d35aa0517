/**
 * A command as anybody can call it. Texts name it `wheelhouse …`, but a page cannot know whether that is on the path of its
 * reader; npx finds it there, too, as it does in the folder where npm has put it.
 */
export const callable = (command: string): string => command.replace(/^wheelhouse /, 'npx wheelhouse ')

/** Words with commands in them: what stands between backticks is shown as code. */
export function Words({ text }: { text: string }) {
  return text.split('`').map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      <code key={part} className="rounded bg-hover px-1 text-[0.929em]">
        {callable(part)}
      </code>
    ),
  )
}
