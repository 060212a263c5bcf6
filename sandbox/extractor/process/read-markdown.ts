import type { Nodes, RootContent } from 'mdast'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { gfm } from 'micromark-extension-gfm'
import type { Block } from '../contract.ts'
import { readHtml } from './read-html.ts'

/** Divides Markdown into blocks. Of MDX, imports and exports are left out, and components read as HTML. */
export function* readMarkdown(source: string): Generator<Block> {
  const text = source.replace(/^\uFEFF?---\n[\s\S]{0,10000}?\n---\n/, '')
  const tree = fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] })
  for (const node of tree.children) yield* toBlocks(node)
}

function* toBlocks(node: RootContent): Generator<Block> {
  if (node.type === 'html') return yield* readHtml(node.value)
  const block = toBlock(node)
  if (block !== undefined && block.text.trim() !== '') yield { ...block, text: block.text.trim() }
}

function toBlock(node: RootContent): Block | undefined {
  switch (node.type) {
    case 'heading':
      return { subtype: node.depth === 1 ? 'title' : 'subtitle', text: textOf(node), level: node.depth }
    case 'code':
      return { subtype: 'code', text: node.value }
    case 'table':
      return {
        subtype: 'table',
        text: node.children.map((row) => row.children.map((cell) => textOf(cell)).join(' | ')).join('\n'),
      }
    case 'list':
      return { subtype: 'list', text: node.children.map((item) => `- ${textOf(item)}`).join('\n') }
    case 'blockquote':
      return { subtype: 'blockquote', text: textOf(node) }
    case 'thematicBreak':
    case 'definition':
      return undefined
    default: {
      const text = textOf(node)
      return statement.test(text) ? undefined : { subtype: 'paragraph', text }
    }
  }
}

/** An import or export of MDX. A sentence may begin with the same word. */
const statement =
  /^(?:import\s*(?:[\w$*{][^'"\n]*\sfrom\s*)?['"]|export\s*[{*]|export\s+(?:default|const|let|var|async|function|class)\s[^\n]*[{(=])/

/** Nodes that end a line. */
const ends = new Set(['paragraph', 'heading', 'code', 'listItem', 'tableRow', 'break'])

/** The text of a node, as a reader sees it. */
function textOf(node: Nodes): string {
  let text = ''
  // Quotes and lists may be nested deep.
  const stack: (Nodes | string)[] = [node]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (typeof next === 'string') text += next
    else if (next.type === 'html') text += next.value.replace(/<[^<>]*>/g, ' ')
    else if ('value' in next) text += next.value
    else if (next.type === 'image') text += next.alt ?? ''
    if (typeof next === 'string') continue
    if (ends.has(next.type)) stack.push('\n')
    if ('children' in next) stack.push(...next.children.toReversed())
  }
  return text.replace(/\n{2,}/g, '\n').trim()
}
