import { Failure } from '../api/ask.ts'

/** The style sheets of parts that could not be loaded. The bundler asks for each only once. */
const failedSheets = new Set<HTMLLinkElement>()

addEventListener(
  'error',
  ({ target }) => {
    if (target instanceof HTMLLinkElement && target.rel === 'stylesheet') failedSheets.add(target)
  },
  { capture: true },
)

/**
 * Loads a part of the console that is not in its first script: `loadPart(() => import('./part.ts'))`. A later call
 * loads what failed in an earlier one.
 *
 * @throws Failure with words for people, in place of the browser's
 */
export async function loadPart<Part>(part: () => Promise<Part>): Promise<Part> {
  try {
    await Promise.all([...failedSheets].map(loadSheetAgain))
    return await part()
  } catch {
    // Some browsers remember until the page is reloaded that a script could not be loaded.
    const message =
      'This part of the console cannot be loaded. Check that the api runs, and try again or reload the page.'
    throw new Failure(0, { type: 'Unreachable', message })
  }
}

function loadSheetAgain(failed: HTMLLinkElement): Promise<void> {
  failedSheets.delete(failed)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const link = failed.cloneNode() as HTMLLinkElement
  link.addEventListener('load', () => resolve())
  link.addEventListener('error', reject)
  failed.replaceWith(link)
  return promise
}
