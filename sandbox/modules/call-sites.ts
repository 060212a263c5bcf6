/**
 * The calls that lead here, and what waits for them, from the inside to the outside. `Error.prepareStackTrace` of the bundle is
 * kept.
 *
 * @param count the most calls
 */
export function callSites(count: number): NodeJS.CallSite[] {
  const { prepareStackTrace, stackTraceLimit } = Error
  let sites: NodeJS.CallSite[] = []
  try {
    // Code may have frozen the class: then they are not known, and nothing fails.
    Reflect.set(Error, 'stackTraceLimit', count)
    Reflect.set(Error, 'prepareStackTrace', (_error: Error, calls: NodeJS.CallSite[]) => {
      sites = calls
    })
    void new Error('looks for its callers').stack
  } finally {
    Reflect.set(Error, 'stackTraceLimit', stackTraceLimit)
    if (prepareStackTrace) Reflect.set(Error, 'prepareStackTrace', prepareStackTrace)
    else Reflect.deleteProperty(Error, 'prepareStackTrace')
  }
  return sites
}
