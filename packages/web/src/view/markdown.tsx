/** Text of the agent as it streams. Everything in it is foreign: no picture is loaded, no HTML runs. */
import { ImageOff } from 'lucide-react'
import { createElement, memo, type ComponentProps } from 'react'
import { Streamdown, type Components } from 'streamdown'
import { useMessages } from '../i18n/index.ts'
import { CodeBlock } from './code-block.tsx'

/** A plain element that `.prose` gives its look, instead of the library's own. */
function plain(tag: string) {
  return function Plain({
    node: _node,
    className: _className,
    ref: _ref,
    ...rest
  }: {
    node?: unknown
    className?: string | undefined
    ref?: unknown
  }) {
    return createElement(tag, rest)
  }
}

function Anchor({ node: _node, className: _className, href, children }: ComponentProps<'a'> & { node?: unknown }) {
  if (href === undefined || !/^(https?:|mailto:|#)/.test(href)) return <span>{children}</span>
  return (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  )
}

/** Loading a picture would tell somebody that it was read; its address is shown instead. */
function Picture({ src, alt }: ComponentProps<'img'> & { node?: unknown }) {
  const m = useMessages()
  const address = typeof src === 'string' && /^https?:/.test(src) ? src : null
  const label = alt === undefined || alt === '' ? m.externalImage : alt
  return (
    <span className="inline-flex items-center gap-1.5 rounded border border-line px-1.5 text-sm text-muted" title={m.externalImage}>
      <ImageOff size={13} aria-hidden />
      {address === null ? (
        label
      ) : (
        <a href={address} target="_blank" rel="noreferrer noopener">
          {label}
        </a>
      )}
    </span>
  )
}

function Table({ node: _node, className: _className, ...rest }: ComponentProps<'table'> & { node?: unknown }) {
  return (
    <div className="wide overflow-x-auto">
      <table {...rest} />
    </div>
  )
}

/** A fenced block; `code` inside is drawn by CodeBlock, which needs its language and text. */
function Code({ className, children }: ComponentProps<'code'> & { node?: unknown }) {
  const language = /language-([\w+#.-]+)/.exec(className ?? '')?.[1] ?? ''
  return <CodeBlock code={typeof children === 'string' ? children.replace(/\n$/, '') : ''} language={language} />
}

const components: Components = {
  p: plain('p'),
  h1: plain('h1'),
  h2: plain('h2'),
  h3: plain('h3'),
  h4: plain('h4'),
  h5: plain('h5'),
  h6: plain('h6'),
  ul: plain('ul'),
  ol: plain('ol'),
  li: plain('li'),
  blockquote: plain('blockquote'),
  hr: plain('hr'),
  strong: plain('strong'),
  thead: plain('thead'),
  tbody: plain('tbody'),
  tr: plain('tr'),
  th: plain('th'),
  td: plain('td'),
  a: Anchor,
  img: Picture,
  table: Table,
  code: Code,
  inlineCode: ({ children }: ComponentProps<'code'> & { node?: unknown }) => <code>{children}</code>,
}

export const Markdown = memo(function Markdown({ text, streaming }: { text: string; streaming: boolean }) {
  return (
    <Streamdown
      mode="streaming"
      parseIncompleteMarkdown={streaming}
      className="prose"
      components={components}
      controls={false}
      isAnimating={streaming}
      dir="auto"
    >
      {text}
    </Streamdown>
  )
})
