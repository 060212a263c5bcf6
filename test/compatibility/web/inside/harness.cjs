// The surroundings of a web-platform test. It runs in isolates and in Node.

/** Defines what a test expects of a worker: the address of its script, and the files beside it. */
function prepare({ path, variant, files }) {
  const all = (function () {
    return this ?? globalThis
  })()
  all.self ??= all
  all.GLOBAL = { isWindow: () => false, isWorker: () => true, isShadowRealm: () => false }
  // Descriptions of interfaces are compared with the kind of the global object that has them.
  if (path.includes('idlharness')) all.Window = Object.getPrototypeOf(all).constructor
  const origin = 'https://web-platform.test:8443'
  all.location = {
    href: `${origin}/${path}${variant}`,
    origin,
    protocol: 'https:',
    host: 'web-platform.test:8443',
    hostname: 'web-platform.test',
    port: '8443',
    pathname: `/${path}`,
    search: variant,
    hash: '',
    toString: () => all.location.href,
  }
  // Requests of workers may have addresses that are relative to that of the script.
  const whole = (input) =>
    typeof input === 'string' && !URL.canParse(input) ? new URL(input, all.location.href).href : input
  all.Request = new Proxy(Request, {
    construct: (target, [input, ...rest], made) => Reflect.construct(target, [whole(input), ...rest], made),
  })
  const redirect = Response.redirect
  Response.redirect = (url, ...rest) => redirect(whole(url), ...rest)
  const fetch = all.fetch
  all.fetch = async (input, options) => {
    const url = new URL(whole(input.url ?? String(input)))
    if (!url.protocol.startsWith('http')) return fetch(input, options)
    if (Object.hasOwn(files, url.pathname)) return new Response(files[url.pathname])
    throw new TypeError(`no file ${url.pathname}`)
  }
}

/** Collects the results of the tests that follow: a list of names, states and messages. */
function collect({ patience }) {
  const { add_completion_callback, add_result_callback, timeout } = self
  const results = []
  const list = (name, status, message) => {
    const text = message === null || message === undefined ? '' : String(message).slice(0, 400)
    results[results.length] = [String(name), status, text]
  }
  add_result_callback(({ name, status, message }) => list(name, status, message))
  let end
  const ended = new Promise((resolve) => (end = resolve))
  const timer = setTimeout(() => timeout(), patience)
  add_completion_callback((_tests, { status, message }) => {
    clearTimeout(timer)
    if (status === 1) list('the whole file', 1, message)
    end(results)
  })
  return {
    ended,
    fail(error) {
      list('the whole file', 1, error?.stack ?? error)
      timeout()
    },
  }
}

module.exports = { prepare, collect }
