import type { FileRow, PassageRow } from '../models/tables.ts'
import { toPassageMeta, type FoundPassageView } from '../models/passage.ts'
import type { FoundPassage } from '../store/readable-passages.ts'

/** The context of a found passage in an answer. */
export interface ResultOptions {
  /** How many neighbours on each side are part of the content. */
  contextDepth: number
  includeBreadcrumb: boolean
  /** Whether the parts of the content are named as well. */
  withContext: boolean
}

type Context = NonNullable<FoundPassageView['context']>

/** @param neighbours the passages of its file around it, itself included, in document order */
export function toResult(
  passage: FoundPassage,
  file: FileRow,
  neighbours: PassageRow[],
  { includeBreadcrumb, withContext }: ResultOptions,
): FoundPassageView {
  const breadcrumb = includeBreadcrumb ? passage.breadcrumb : []
  const content = [...breadcrumb, ...neighbours.map(({ text }) => text)].join('\n')
  const context: Context = [
    ...breadcrumb.map((text) => ({ text, type: 'breadcrumb' as const })),
    ...neighbours.map(({ id, text, position }) => ({
      id,
      text,
      offset: position - passage.position,
      type: sideOf(position - passage.position),
    })),
  ]
  return {
    content,
    score: passage.score,
    meta: toPassageMeta(passage),
    file: toFoundFile(file),
    ...(withContext && { context }),
  }
}

function sideOf(offset: number): 'preceding' | 'subsequent' | 'current' {
  if (offset === 0) return 'current'
  return offset < 0 ? 'preceding' : 'subsequent'
}

/**
 * One result for each file: what was found in it, in document order, under its headings.
 *
 * @param found best first
 * @param neighboursOf the passages around one that was found, itself included
 */
export function toConsolidated(
  found: FoundPassage[],
  files: Map<string, FileRow>,
  neighboursOf: (passage: FoundPassage) => PassageRow[],
): FoundPassageView[] {
  const byFile = Map.groupBy(found, ({ file_id: fileId }) => fileId)
  return Array.from(byFile, ([fileId, passages]) => {
    const parts = new Map(passages.flatMap(neighboursOf).map((part) => [part.position, part]))
    const ordered = [...parts.values()].toSorted((a, b) => a.position - b.position)
    return {
      content: underHeadings(ordered),
      score: passages[0]!.score,
      meta: { type: 'consolidated' as const },
      file: toFoundFile(files.get(fileId)!),
    }
  })
}

/** The texts of passages, each heading once above what it stands over. */
function underHeadings(passages: PassageRow[]): string {
  let open: string[] = []
  const lines: string[] = []
  for (const { breadcrumb, text } of passages) {
    const same = breadcrumb.findIndex((heading, index) => heading !== open[index])
    lines.push(...breadcrumb.slice(same < 0 ? breadcrumb.length : same), text)
    open = breadcrumb
  }
  return lines.join('\n')
}

function toFoundFile(row: FileRow): FoundPassageView['file'] {
  const { id, key, content_type: contentType, metadata, tags } = row
  return {
    id,
    key,
    contentType,
    metadata,
    tags,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}
