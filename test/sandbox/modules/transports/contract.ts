/** The cases of each client in the matrix, with results in a common form. */
export interface Cases {
  /** The body of `GET /json`, which shows the header `x-given`. */
  get: Case
  /** The answer of `POST /echo` to `{ text: 'Grüße' }`. */
  post: Case
  /** The answer of `GET /auth` to Basic credentials (stripe: to its key). */
  auth: Case
  /** The body behind `GET /redirect`, or the status where redirects are not followed. */
  redirect: Case
  gzip: Case
  /** Status and body of `GET /422`. */
  refusal: Case
  /** Anything: the error of a request that is not answered in time. */
  timeout: Case
  /** The answer of `POST /form` to a form with one file. */
  multipart: Case
  /** The number of bytes of `GET /stream`, read as a stream. */
  download: Case
  /** The number of bytes that `POST /count` received of a stream of 300,000 bytes. */
  upload: Case
  /** The code of the error where nothing listens. */
  refused: Case
}

/**
 * @param base the address of the server
 * @param closed an address where nothing listens
 */
export type Case = (base: string, closed: string) => Promise<unknown>

/** Absent cases are those that a client does not have. */
export type Client = Partial<Cases>

export const timeoutMilliseconds = 150

export const uploadBytes = 300_000

/** The message of an error that must come. */
export async function failureOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('The request has not failed')
}

/** The code of an error that must come, or that of its cause. */
export async function codeOf(promise: Promise<unknown>): Promise<string | undefined> {
  try {
    await promise
  } catch (error) {
    const { code, cause, detail } = error as { code?: string; cause?: { code?: string }; detail?: { code?: string } }
    return code ?? cause?.code ?? detail?.code
  }
  throw new Error('The request has not failed')
}
