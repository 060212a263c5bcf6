import { access } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { readPages, root, type Page } from './blocks.ts'

const pages = await readPages()

/** A page without its fenced blocks, in which there are no links. */
const proseOf = (text: string) =>
  text.replaceAll(/^```[^]*?^```$/gm, '').replaceAll(/`[^`\n]*`/g, (code) => 'x'.repeat(code.length))

/** As the web pages of repositories make them of headings. */
function anchorsOf(text: string): string[] {
  const headings = Array.from(
    text.replaceAll(/^```[^]*?^```$/gm, '').matchAll(/^#+ (.+)$/gm),
    ([, heading]) => heading!,
  )
  const seen = new Map<string, number>()
  return headings.map((heading) => {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    const anchor = plain
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .trim()
      .replaceAll(' ', '-')
    const count = seen.get(anchor) ?? 0
    seen.set(anchor, count + 1)
    return count === 0 ? anchor : `${anchor}-${count}`
  })
}

/** The links of a page without a destination, each as a sentence. */
async function brokenLinks({ path, text }: Page): Promise<string[]> {
  const broken: string[] = []
  for (const [, target = ''] of proseOf(text).matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^https?:/.test(target)) continue
    const [file = '', anchor] = target.split('#')
    const linked = file === '' ? path : normalize(join(dirname(path), file))
    const isThere = await access(join(root, linked)).then(
      () => true,
      () => false,
    )
    const page = pages.find((candidate) => candidate.path === linked)
    const hasAnchor = anchor === undefined || (page && anchorsOf(page.text).includes(anchor))
    if (!isThere || !hasAnchor) broken.push(`${path} links ${target}`)
  }
  return broken
}

test('every link within the documentation leads somewhere', async () => {
  expect((await Promise.all(pages.map(brokenLinks))).flat()).toEqual([])
})

test('every page of the documentation can be found from its index', () => {
  const index = pages.find(({ path }) => path === 'docs/README.md')!
  for (const { path } of pages.filter((page) => /^docs\/(?!decisions\/|README)/.test(page.path))) {
    expect(index.text).toContain(`](${path.slice('docs/'.length)})`)
  }
})
