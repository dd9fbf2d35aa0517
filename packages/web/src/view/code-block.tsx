import type { ElementContent, Root, RootContent } from 'hast'
import { memo, useEffect, useState, type ReactNode } from 'react'
import { CopyButton } from './ui.tsx'

/** Longer code is drawn plain: colouring it would hold up the page. */
const COLOURED_MAX = 60_000

/** Fenced code: its language, a copy button (above it where a line would lie under them), colours once they are loaded. */
export const CodeBlock = memo(function CodeBlock({ code, language }: { code: string; language: string }) {
  return (
    <figure className="group/code @container relative overflow-hidden rounded-lg border border-line bg-code">
      <figcaption className="absolute top-1 right-1 flex items-center gap-1 rounded-md bg-code pl-2 text-xs text-faint @max-xl:static @max-xl:justify-end @max-xl:pr-1">
        {language}
        <CopyButton text={code} />
      </figcaption>
      <pre tabIndex={0} dir="ltr" className="overflow-x-auto px-3.5 py-2.5 @max-xl:pt-0 text-[0.893rem] leading-normal">
        <Coloured code={code} language={language} />
      </pre>
    </figure>
  )
})

/** Code in colours of its language. */
export function Coloured({ code, language }: { code: string; language: string }) {
  const tree = useTree(code, language)
  return <code>{tree === null ? code : tree.children.map(draw)}</code>
}

function useTree(code: string, language: string): Root | null {
  const [tree, setTree] = useState<{ code: string; root: Root } | null>(null)
  useEffect(() => {
    if (language === '' || code.length > COLOURED_MAX) return
    let live = true
    void import('./highlight.ts').then(({ highlight }) => {
      const root = highlight(code, language.toLowerCase())
      if (live && root !== null) setTree({ code, root })
    })
    return () => {
      live = false
    }
  }, [code, language])
  // While more streams in, the colours of what was there would lag behind the text.
  return tree?.code === code ? tree.root : null
}

function draw(node: RootContent | ElementContent, index: number): ReactNode {
  if (node.type === 'text') return node.value
  if (node.type !== 'element') return null
  const names = node.properties['className']
  return (
    <span key={index} className={Array.isArray(names) ? names.join(' ') : undefined}>
      {node.children.map(draw)}
    </span>
  )
}
