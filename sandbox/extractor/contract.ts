/** The kinds of passages and blocks, by their names in the API. */
export const subtypes = ['title', 'subtitle', 'paragraph', 'blockquote', 'list', 'table', 'code', 'image'] as const

export type Subtype = (typeof subtypes)[number]

/** A part of a document, as its author divided it. All formats become a list of blocks. */
export interface Block {
  subtype: Subtype
  text: string
  /** Of a heading: 1 for the highest. */
  level?: number
  /** The first page is 1. Only PDF has pages. */
  pageNumber?: number
}

/** A part of a document that a search finds as a whole. */
export interface Passage {
  subtype: Subtype
  text: string
  /** The headings that it stands under, the highest first. */
  breadcrumb: string[]
  pageNumber?: number
}

/** Lengths of passages, in characters. */
export interface Chunking {
  /** Shorter paragraphs of one heading become one passage. */
  minimumParagraphLength: number
  /** Longer blocks are split. */
  maximumChunkLength: number
}

export const documentFormats = ['pdf', 'docx', 'html', 'markdown', 'text'] as const

export type DocumentFormat = (typeof documentFormats)[number]

/** The format of a document, and how much of its text to extract. */
export interface ExtractionTask {
  format: DocumentFormat
  /** The encoding of its text, as its content type states it. */
  charset?: string
  chunking: Chunking
  /** Upper bound of the passages of one document. */
  maxPassages: number
}

export type Extraction =
  | { status: 'extracted'; passages: Iterable<Passage> }
  /** The document cannot be read, or exceeds a limit. The reason is for the person who uploaded it. */
  | { status: 'refused'; reason: string }

/** Limits of the process that reads a document. */
export interface ExtractionLimits {
  /** Processor time. */
  seconds: number
  memoryMegabytes: number
}

export interface Extractor {
  /**
   * Divides a document into passages, in a process that serves this document alone.
   *
   * @param owner owners take turns
   * @param open opens the document when the owner's turn has come
   * @throws ExtractorError when the process ended through no fault of the document; or the error of `open` or the stream
   */
  extract(
    owner: string,
    task: ExtractionTask,
    open: () => AsyncIterable<Uint8Array> | Promise<AsyncIterable<Uint8Array>>,
  ): Promise<Extraction>
  /** Ends all extractions in flight. */
  close(): Promise<void>
}

/** A process ended unexpectedly; another attempt may succeed. */
export class ExtractorError extends Error {
  override name = 'ExtractorError'
}
