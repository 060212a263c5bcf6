import { Lexer, type Token, type Tokens } from 'marked'
import type { ComponentChildren, JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { safeLink } from './links.ts'

/** Longer texts are shown as they are: the time to read Markdown grows faster than its length. */
const maxLength = 20_000
/** Deeper structures are shown as text. */
const maxDepth = 12

/** A text in Markdown, as nodes. HTML in it is text, and pictures are links: loading one would reveal the reader to its server. */
export function Markdown({ text }: { text: string }): JSX.Element {
  const tokens = useMemo(() => read(text), [text])
  if (!tokens) return <p class="plain">{text}</p>
  return <>{tokens.map((token, index) => render(token, index, 0))}</>
}

function read(text: string): Token[] | undefined {
  if (text.length > maxLength) return undefined
  try {
    return Lexer.lex(text, { gfm: true, breaks: true })
  } catch {
    // Nested beyond the stack.
    return undefined
  }
}

function children(tokens: Token[] | undefined, depth: number): ComponentChildren {
  return tokens?.map((token, index) => render(token, index, depth + 1))
}

function render(given: Token, key: number, depth: number): ComponentChildren {
  if (depth > maxDepth) return given.raw
  const token = given as Exclude<Tokens.Generic, never> & Token
  switch (token.type) {
    case 'space':
    case 'def':
      return null
    case 'paragraph':
      return <p key={key}>{children(token.tokens, depth)}</p>
    case 'heading':
      return (
        <p key={key} class="heading">
          {children(token.tokens, depth)}
        </p>
      )
    case 'blockquote':
      return <blockquote key={key}>{children(token.tokens, depth)}</blockquote>
    case 'list':
      return <List key={key} list={token as Tokens.List} depth={depth} />
    case 'code':
      return (
        <pre key={key} tabIndex={0}>
          <code>{(token as Tokens.Code).text}</code>
        </pre>
      )
    case 'table':
      return <Table key={key} table={token as Tokens.Table} depth={depth} />
    case 'hr':
      return <hr key={key} />
    case 'strong':
      return <strong key={key}>{children(token.tokens, depth)}</strong>
    case 'em':
      return <em key={key}>{children(token.tokens, depth)}</em>
    case 'del':
      return <del key={key}>{children(token.tokens, depth)}</del>
    case 'codespan':
      return <code key={key}>{(token as Tokens.Codespan).text}</code>
    case 'br':
      return <br key={key} />
    case 'link':
      return (
        <Link key={key} href={(token as Tokens.Link).href}>
          {children(token.tokens, depth)}
        </Link>
      )
    case 'image':
      return (
        <Link key={key} href={(token as Tokens.Image).href}>
          {(token as Tokens.Image).text || (token as Tokens.Image).href}
        </Link>
      )
    case 'escape':
      return (token as Tokens.Escape).text
    case 'text':
      return token.tokens ? children(token.tokens, depth) : decode((token as Tokens.Text).text)
    default:
      return token.raw
  }
}

function List({ list, depth }: { list: Tokens.List; depth: number }): JSX.Element {
  const items = list.items.map((item, index) => (
    <li key={index}>
      {item.task && (item.checked ? '☑ ' : '☐ ')}
      {children(
        item.tokens.filter(({ type }) => type !== 'checkbox'),
        depth,
      )}
    </li>
  ))
  return list.ordered ? <ol start={list.start || 1}>{items}</ol> : <ul>{items}</ul>
}

function Table({ table, depth }: { table: Tokens.Table; depth: number }): JSX.Element {
  return (
    <div class="table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {table.header.map(({ tokens }, index) => (
              <th key={index}>{children(tokens, depth)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, index) => (
            <tr key={index}>
              {row.map(({ tokens }, index) => (
                <td key={index}>{children(tokens, depth)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** A link out of the chat, or its content alone where the address is not one to follow. */
export function Link({ href, children }: { href: unknown; children: ComponentChildren }): JSX.Element {
  const address = safeLink(href)
  if (address === undefined) return <span>{children}</span>
  return (
    <a href={address} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  )
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: '\u00a0' }

/** Characters that Markdown may name. */
function decode(text: string): string {
  return text.replaceAll(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => entities[name]!)
}
