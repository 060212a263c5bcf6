/** An element of the original that the project does not have, or in which it differs. */
export interface Finding {
  /** Path in the original. */
  file: string
  node?: string | undefined
  element: string
  remedy: string
  /** `lost`: it was not carried. `differs`: it was carried, and behaves differently. */
  kind: 'lost' | 'differs'
}

/** Upper bound of the characters of the original’s texts in a finding. */
const maxElement = 300

/** Collects what an import did not carry. */
export class Report {
  readonly findings: Finding[] = []
  readonly #seen = new Set<string>()
  /** Where something was lost, by file and by node. */
  readonly #faulty = new Set<string>()

  lost(file: string, node: string | undefined, element: string, remedy: string): void {
    this.#add({ file, node, element: cut(element), remedy, kind: 'lost' })
  }

  differs(file: string, node: string | undefined, element: string, remedy: string): void {
    this.#add({ file, node, element: cut(element), remedy, kind: 'differs' })
  }

  /** Whether everything of a node was carried. */
  isWhole(file: string, node?: string): boolean {
    return !this.#faulty.has(placeOf(file, node))
  }

  count(kind: Finding['kind']): number {
    return this.findings.filter((each) => each.kind === kind).length
  }

  #add(finding: Finding): void {
    const key = JSON.stringify(finding)
    if (this.#seen.has(key)) return
    this.#seen.add(key)
    this.findings.push(finding)
    const { file, node, kind } = finding
    if (kind === 'lost') this.#faulty.add(placeOf(file, undefined)).add(placeOf(file, node))
  }
}

function placeOf(file: string, node: string | undefined): string {
  return JSON.stringify([file, node])
}

function cut(text: string): string {
  return text.length > maxElement ? `${text.slice(0, maxElement)}…` : text
}

/** The page `REPORT.md` of a project. */
export function writeReport(name: string, summary: readonly string[], { findings }: Report): string {
  const lost = findings.filter(({ kind }) => kind === 'lost')
  const differing = findings.filter(({ kind }) => kind === 'differs')
  return [
    `# Import of ${plain(name)}`,
    '',
    ...summary.map((line) => `- ${plain(line)}`),
    '',
    '## Not carried',
    '',
    ...tableOf(lost, 'Everything was carried.'),
    '',
    '## Different',
    '',
    ...tableOf(differing, 'Nothing is known to behave differently.'),
    '',
  ].join('\n')
}

function tableOf(findings: readonly Finding[], otherwise: string): string[] {
  if (findings.length === 0) return [otherwise]
  return [
    '| File | Node | Element | Remedy |',
    '| --- | --- | --- | --- |',
    ...findings.map(
      ({ file, node, element, remedy }) => `| ${plain(file)} | ${plain(node ?? '')} | ${plain(element)} | ${remedy} |`,
    ),
  ]
}

/** A text of the original within a cell: it is no Markdown, no HTML, and one line. */
function plain(text: string): string {
  return text
    .replaceAll(/\p{Cc}+/gu, ' ')
    .replaceAll(/[\\`*_{}[\]()<>#|!~]/g, (character) => `\\${character}`)
    .replaceAll('\\<', '&lt;')
    .replaceAll('\\>', '&gt;')
}
