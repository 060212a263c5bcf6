import { isAudited, recorded, recordedReading } from './audit.ts'
import type { Access, BotContext, Caller, CallerWith } from './caller.ts'
import type { Context } from '../context.ts'
import { ApiError, type ErrorType } from '../errors.ts'
import { JsonList } from '../json/json-list.ts'
import type { FormBody } from './form-file.ts'
import { listCheck, type LargeList } from './large-list.ts'
import { newlineDelimited, type LineFormat } from '../json/line-format.ts'
import type { LineStream } from './line-stream.ts'
import { nestQuery, withoutEmptyTimes } from './query.ts'
import { isRecord } from '../models/payload.ts'
import { compile, describeErrors, type Infer } from '../schema.ts'

/** `documented`: part of the product's specification; `experimental`: Isobot's own, unknown to published clients. */
export type Stability = 'documented' | 'experimental'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

interface Declared<A extends Access, I, O> {
  /** Unique within its API; the name of the method in the published clients. */
  name: string
  /** One sentence for the API's documentation. */
  description: string
  method: Method
  /** With `{parameter}` for one segment and `{parameter*}` for all that remain before the next fixed segment. */
  path: string
  access: A
  /** Its tag in the OpenAPI document (`openapi/interfaces.ts`); most operations have none. */
  stability?: Stability
  /** Errors beside those that follow from its access and the form of its input (`openapi/errors.ts`). */
  errors?: readonly ErrorType[]
  /** The status of success. */
  status?: 200 | 201
  /** The output is not the answer: it names the stream that the HTTP entry point opens. */
  opensStream?: true
  /** The output is not the answer: it is a `FileReference`, to the file whose content is the answer. */
  answersWithFile?: true
  /**
   * It waits for a worker to process its writes, or for another service, so it cannot be one transaction. With a field: only
   * where that field of its input is true.
   */
  awaitsWorker?: true | { field: string }
  /** Its statements may take long by their nature: a caller's bot has one such request in progress in a process. */
  mayTakeLong?: true
  /**
   * A repeated run finds the recorded call by its input, not by its number among the calls of the operation. For calls
   * that code makes concurrently, in an order that may differ in the next run, and whose answer depends on the input.
   */
  isRecordedByInput?: true
  /** Fields of the body that the schema does not name are refused, not dropped. */
  isClosed?: true
  /**
   * It speaks the language of another API, for the libraries of that API: bot code has no method for it, and its errors have
   * the field `error` besides.
   */
  isForLibraries?: true
  /** How the lines of its answer are written, if not as NDJSON. */
  lineFormat?: LineFormat
  /** Input fields that HTTP requests have as headers of the same names. */
  headers?: readonly string[]
  /** Input fields that HTTP requests have in the query, although they have a body. */
  queryFields?: readonly string[]
  /**
   * A list in the body that may be large: HTTP requests have it as a `JsonList`, which the handler can iterate once, and do
   * nothing else with.
   */
  largeList?: LargeList
  /** Its body is a form with a file, which the handler gets as a `FormFile`. */
  form?: FormBody
  /** Reads the fields of a query, where their encoding differs from that of `nestQuery`. */
  readQuery?: (flat: Record<string, unknown>) => Record<string, unknown>
  /** Members who act as a bot are recorded, as those who administer it are. */
  recordsMembers?: true
  /**
   * It reads what people said, so an audit record has who read it: one for each opening. Its input and its output have
   * the field `reading` (`rpc/reading.ts`).
   */
  recordsReading?: true
  /** It changes nothing although its method is not GET, so it is not recorded. */
  changesNothing?: true
  /** Input fields whose values the audit record contains, and not only their names. Never secrets. */
  auditedFields?: readonly string[]
  /**
   * Answers the code of a bot in place of `handle`, although the access is for members. It checks the caller itself.
   */
  handleForBot?: (context: BotContext, input: Infer<I>) => Promise<Infer<O>>
  /** Path parameters, and the rest from the query (GET and DELETE) or the JSON body. Unknown fields are dropped. */
  input: I
  output: O
}

type Handle<A extends Access, I, Result> = (
  context: Context & { caller: CallerWith<A> },
  input: Infer<I>,
) => Promise<Result>

type Specification<A extends Access, I, O> = Declared<A, I, O> &
  (
    | { streamsLines?: false; handle: Handle<A, I, Infer<O>> }
    | {
        /** The answer comes in lines of JSON (NDJSON), of which the output is one. */
        streamsLines: true
        handle: Handle<A, I, LineStream<Infer<O>>>
      }
    | {
        /** The answer comes in lines if the input's field `stream` is true. */
        streamsLines: 'on request'
        handle: Handle<A, I, Infer<O> | LineStream>
      }
  )

/** One call of the API, independent of the entry point. */
export interface Operation {
  name: string
  description: string
  method: Method
  path: string
  access: Access
  stability?: Stability
  errors: readonly ErrorType[]
  status: number
  opensStream: boolean
  answersWithFile: boolean
  /** `call` answers with a `LineStream`. */
  streamsLines: boolean | 'on request'
  lineFormat: LineFormat
  isForLibraries: boolean
  awaitsWorker: boolean | { field: string }
  mayTakeLong: boolean
  /** Whether the code of a bot may call it, although its access is for members. */
  isForBotsToo: boolean
  isRecordedByInput: boolean
  headers: readonly string[]
  queryFields: readonly string[]
  largeList?: LargeList
  form?: FormBody
  isClosed: boolean
  readQuery(flat: Record<string, unknown>): Record<string, unknown>
  /** It reads, and nothing is lost where it is not carried out for a caller that has gone. */
  changesNothing: boolean
  /** Whether an audit record is kept of each call. */
  isAudited: boolean
  input: object
  output: object
  /** Whether a JSON body is part of the request. */
  takesBody: boolean
  /**
   * Validates the input and calls the handler. The caller must have been authorised.
   * @throws ApiError when the input is invalid or the operation refuses
   */
  call(context: Context & { caller: Caller }, input: unknown): Promise<unknown>
}

/** Whether the answer to a request comes in lines. @param body of the request, not validated */
export function answersInLines({ streamsLines }: Operation, body: unknown): boolean {
  return streamsLines === 'on request' ? isRecord(body) && body['stream'] === true : streamsLines
}

/** Declares an operation. Its schema is compiled at the first call: a process uses few of all operations. */
export function operation<A extends Access, const I extends object, const O extends object>(
  specification: Specification<A, I, O>,
): Operation & { output: O } {
  const {
    handle,
    handleForBot,
    status = 200,
    errors = [],
    opensStream = false,
    answersWithFile = false,
    streamsLines = false,
    lineFormat = newlineDelimited,
    isForLibraries = false,
    awaitsWorker = false,
    mayTakeLong = false,
    isRecordedByInput = false,
    isClosed = false,
    changesNothing = false,
    auditedFields = [],
    headers = [],
    queryFields = [],
    readQuery = nestQuery,
    recordsMembers = false,
    recordsReading = false,
    ...declaration
  } = specification
  const takesBody = declaration.method !== 'GET' && declaration.method !== 'DELETE'
  // The fields of a form are texts, as those of a query.
  const from = takesBody && !declaration.form ? (isClosed ? 'closedBody' : 'body') : 'query'
  const isValid = compile(declaration.input, from)
  let checkList: ((input: unknown) => void) | undefined
  const { largeList } = declaration
  function assertValid(input: unknown): asserts input is Infer<I> {
    if (largeList && (input as Record<string, unknown>)[largeList.field] instanceof JsonList) {
      checkList ??= listCheck(declaration.input, largeList)
      return checkList(input)
    }
    if (!isValid(input)) throw new ApiError('InvalidPayload', describeErrors(isValid))
  }
  const audited = { ...declaration, changesNothing, recordsMembers, recordsReading, auditedFields }
  const isKept = isAudited(audited)
  return {
    ...declaration,
    status,
    errors,
    opensStream,
    answersWithFile,
    streamsLines,
    lineFormat,
    isForLibraries,
    awaitsWorker,
    mayTakeLong,
    isForBotsToo: handleForBot !== undefined,
    isRecordedByInput,
    isClosed,
    headers,
    queryFields,
    readQuery: (flat) => withoutEmptyTimes(declaration.input, readQuery(flat)),
    changesNothing: changesNothing || declaration.method === 'GET',
    isAudited: isKept,
    takesBody,
    call(context, input) {
      assertValid(input)
      const { caller } = context
      if (handleForBot && caller.kind === 'bot') return handleForBot({ ...context, caller }, input)
      const act = (): Promise<unknown> => handle(context as Context & { caller: CallerWith<A> }, input)
      if (recordsReading) return recordedReading(context, audited, input as object, act as () => Promise<object>)
      return isKept ? recorded(context, audited, input as object, act) : act()
    },
  }
}
