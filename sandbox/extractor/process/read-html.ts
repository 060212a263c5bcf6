import { defaultTreeAdapter, parse, type DefaultTreeAdapterTypes } from 'parse5'
import type { Block, Subtype } from '../contract.ts'

type Node = DefaultTreeAdapterTypes.ChildNode
type Element = DefaultTreeAdapterTypes.Element

/** Elements whose content a reader of the page does not see. */
const unseen = new Set(
  'script style noscript template head iframe object embed canvas svg math audio video select textarea dialog'.split(
    ' ',
  ),
)
/** Elements of which each is one block. */
const whole = new Map<string, Subtype>(
  Object.entries({ table: 'table', pre: 'code', blockquote: 'blockquote', ul: 'list', ol: 'list', dl: 'list' }),
)
/** Elements that begin a line of their own. */
const lines = new Set(
  (
    'address article aside body br caption dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 ' +
    'header hgroup hr html li main nav ol p pre section summary table tbody tfoot thead tr ul blockquote option legend'
  ).split(' '),
)

const headings = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6']

/** The encoding that a page declares at its beginning, in a `meta` element or in its XML declaration. */
export function charsetOf(page: Buffer): string | undefined {
  const start = page.toString('latin1', 0, 1024)
  return /<(?:meta\s[^>]*\bcharset|\?xml\s[^>]*\bencoding)\s*=\s*["']?\s*([\w:.-]+)/i.exec(start)?.[1]
}

/** Divides a page into blocks. Nothing of it is run or loaded. */
export function* readHtml(html: string): Generator<Block> {
  let text = ''
  function* flush(): Generator<Block> {
    const paragraph = squeeze(text)
    text = ''
    if (paragraph !== '') yield { subtype: 'paragraph', text: paragraph }
  }
  for (const { node, isEnd } of walk(parse(html).childNodes, isOpaque)) {
    if (defaultTreeAdapter.isTextNode(node)) {
      text += node.value
      continue
    }
    if (!defaultTreeAdapter.isElementNode(node) || unseen.has(node.tagName)) continue
    const name = node.tagName
    if (lines.has(name)) yield* flush()
    if (isEnd) continue
    const level = headings.indexOf(name) + 1
    const subtype = level > 0 ? (level === 1 ? 'title' : 'subtitle') : whole.get(name)
    if (subtype !== undefined) {
      const content = name === 'pre' ? rawText(node).trim() : contentOf(node, name === 'table')
      if (content !== '') yield { subtype, text: content, ...(level > 0 && { level }) }
    } else if (name === 'img') {
      const alternative = node.attrs.find((each) => each.name === 'alt')?.value.trim()
      if (alternative) text += ` ${alternative} `
    }
  }
  yield* flush()
}

/** Whether an element's children are not visited: it is a block of its own, or not seen. */
function isOpaque({ tagName }: Element): boolean {
  return unseen.has(tagName) || whole.has(tagName) || headings.includes(tagName)
}

/** The text of an element: a line for each block in it, and for each row of a table. */
function contentOf(element: Element, isTable: boolean): string {
  let text = ''
  for (const { node, isEnd } of walk(element.childNodes, ({ tagName }) => unseen.has(tagName))) {
    if (defaultTreeAdapter.isTextNode(node)) text += node.value.replace(/\s+/g, ' ')
    else if (defaultTreeAdapter.isElementNode(node)) {
      const name = node.tagName
      if (isTable && (name === 'td' || name === 'th')) text += isEnd ? ' | ' : ''
      else if (isTable ? name === 'tr' || name === 'caption' : lines.has(name)) text += '\n'
      else if (lines.has(name)) text += ' '
      if (!isTable && name === 'li' && !isEnd) text += '- '
    }
  }
  return text
    .split('\n')
    .map((line) => squeeze(line).replace(/(?: \|)+$/, ''))
    .filter((line) => line !== '' && line !== '-')
    .join('\n')
}

function rawText(element: Element): string {
  let text = ''
  for (const { node } of walk(element.childNodes, () => false)) {
    if (defaultTreeAdapter.isTextNode(node)) text += node.value
  }
  return text
}

function squeeze(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/**
 * Visits nodes in document order; elements also at their end. A page may be nested 100,000 deep, so nothing here
 * recurses.
 */
function* walk(nodes: Node[], isOpaque: (element: Element) => boolean): Generator<{ node: Node; isEnd: boolean }> {
  const stack: { nodes: Node[]; index: number; parent?: Element }[] = [{ nodes, index: 0 }]
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const node = top.nodes[top.index]
    if (node === undefined) {
      stack.pop()
      if (top.parent) yield { node: top.parent, isEnd: true }
      continue
    }
    top.index += 1
    yield { node, isEnd: false }
    if (!defaultTreeAdapter.isElementNode(node)) continue
    if (isOpaque(node)) yield { node, isEnd: true }
    else stack.push({ nodes: node.childNodes, index: 0, parent: node })
  }
}
