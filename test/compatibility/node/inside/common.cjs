'use strict'
// The part of Node's own `test/common` that tests need which touch nothing of the machine. It runs in isolates and in Node.
const assert = require('assert')

const problems = []
const expected = []
const exits = []
/** The `process` of tests: its listeners are called by `run`. */
const shadow = Object.create(globalThis.process, {
  on: { value: listen },
  once: { value: listen },
  off: { value: () => shadow },
  removeListener: { value: () => shadow },
})

function listen(name, listener) {
  if (name === 'exit' || name === 'beforeExit') exits.push(listener)
  return shadow
}

function record(error) {
  problems.push(error instanceof Error ? error : new Error(`threw ${String(error)}`))
}

const own = /\bat (?:\w+\.)?(?:caller|counted|mustCall|mustCallAtLeast|mustSucceed|mustNotCall|expectsError)\b/

/** The place of a call of `common`, by which a missing call is found. */
function caller() {
  const lines = new Error('caller').stack.split('\n').slice(1)
  return (lines.find((line) => !own.test(line)) ?? '').trim()
}

function counted(given, count, field) {
  let [callback, wanted] = [given, count]
  if (typeof callback === 'number') [callback, wanted] = [undefined, callback]
  const entry = { [field]: wanted ?? 1, actual: 0, place: caller(), name: callback?.name || '<anonymous>' }
  expected.push(entry)
  const wrapped = function (...values) {
    entry.actual += 1
    if (!callback) return undefined
    try {
      return Reflect.apply(callback, this, values)
    } catch (error) {
      if (error instanceof assert.AssertionError) record(error)
      throw error
    }
  }
  const { name = '', length = 0 } = callback ?? {}
  Object.defineProperties(wrapped, { name: { value: name }, length: { value: length, configurable: true } })
  return wrapped
}

const mustCall = (callback, count) => counted(callback, count, 'exact')
const mustCallAtLeast = (callback, count) => counted(callback, count, 'minimum')
const mustSucceed = (callback, count) =>
  mustCall(function (error, ...values) {
    assert.ifError(error)
    return callback?.apply(this, values)
  }, count)

function mustNotCall(message) {
  const place = caller()
  return function mustNotCall(...values) {
    const error = new Error(
      `${message || 'function should not have been called'} ${place} with ${values.map(String).join(', ')}`,
    )
    record(error)
    throw error
  }
}

function expectsError(validator, exact) {
  return mustCall((...values) => {
    assert.strictEqual(values.length, 1)
    assert.throws(() => {
      throw values[0]
    }, validator)
    return true
  }, exact)
}

/** The end of a message of `ERR_INVALID_ARG_TYPE`. */
function invalidArgTypeHelper(input) {
  const { inspect } = require('util')
  if (input == null) return ` Received ${input}`
  if (typeof input === 'function') return ` Received function ${input.name}`
  if (typeof input === 'object') {
    if (input.constructor?.name) return ` Received an instance of ${input.constructor.name}`
    return ` Received ${inspect(input, { depth: -1 })}`
  }
  const text = inspect(input, { colors: false })
  return ` Received type ${typeof input} (${text.length > 28 ? `${text.slice(0, 25)}...` : text})`
}

const views = [
  'Int8Array',
  'Uint8Array',
  'Uint8ClampedArray',
  'Int16Array',
  'Uint16Array',
  'Int32Array',
  'Uint32Array',
  'Float32Array',
  'Float64Array',
  'BigInt64Array',
  'BigUint64Array',
  'DataView',
]

/** Views of the bytes of a buffer. */
function getArrayBufferViews({ buffer, byteOffset, byteLength }) {
  return views
    .map((name) => globalThis[name])
    .filter(({ BYTES_PER_ELEMENT = 1 }) => byteLength % BYTES_PER_ELEMENT === 0)
    .map((View) => new View(buffer, byteOffset, byteLength / (View.BYTES_PER_ELEMENT ?? 1)))
}

class Skipped extends Error {}
function skip(reason) {
  throw new Skipped(`skipped: ${reason}`)
}

const common = {
  mustCall,
  mustCallAtLeast,
  mustSucceed,
  mustNotCall,
  expectsError,
  invalidArgTypeHelper,
  getArrayBufferViews,
  skip,
  getBufferSources: (buffer) => [...getArrayBufferViews(buffer), new Uint8Array(buffer).buffer],
  mustNotMutateObjectDeep: (value) => value,
  expectWarning: () => {},
  allowGlobals: () => {},
  printSkipMessage: () => {},
  platformTimeout: (milliseconds) => milliseconds,
  skipIf32Bits: () => {},
  skipIfInspectorDisabled: () => skip('no inspector'),
  escapePOSIXShell: (text) => [text],
  hasCrypto: true,
  hasIntl: true,
  hasIPv6: false,
  hasMultiLocalhost: () => false,
  hasQuic: false,
  hasOpenSSL3: true,
  enoughTestMem: false,
  isWindows: false,
  isLinux: true,
  isMacOS: false,
  isAIX: false,
  isIBMi: false,
  isSunOS: false,
  isFreeBSD: false,
  isOpenBSD: false,
  isASan: false,
  isDebug: false,
  isPi: () => false,
  isDumbTerminal: true,
  isMainThread: true,
  isAlive: () => false,
  inFreeBSDJail: false,
  isInsideDirWithUnusualChars: false,
  bits: 64,
  buildType: 'Release',
  PORT: 12_346,
  PIPE: '/pipe',
  localhostIPv4: '127.0.0.1',
  localhostIPv6: '::1',
  opensslCli: false,
}
common.default = common
Object.defineProperty(common, '__esModule', { value: true })

const { exec, spawn } = {}
const crypto = { ...common, exec, spawn, hasOpenSSL: (major) => major <= 3, hasOpenSSL3: true }
const block = (name) => (kind) =>
  new RegExp(`^-----BEGIN ${name}-----\\r?\\n${kind}(?:[A-Za-z0-9+/=]{1,64}\\r?\\n)+-----END ${name}-----\\r?\\n$`)
const pem = (name, extra = '') => block(name)(extra)
Object.assign(crypto, {
  pkcs1PubExp: pem('RSA PUBLIC KEY'),
  pkcs1PrivExp: pem('RSA PRIVATE KEY'),
  pkcs1EncExp: (cipher) =>
    pem('RSA PRIVATE KEY', `Proc-Type: 4,ENCRYPTED\\r?\\nDEK-Info: ${cipher},[^\\n]+\\r?\\n\\r?\\n`),
  spkiExp: pem('PUBLIC KEY'),
  pkcs8Exp: pem('PRIVATE KEY'),
  pkcs8EncExp: pem('ENCRYPTED PRIVATE KEY'),
  sec1Exp: pem('EC PRIVATE KEY'),
  sec1EncExp: (cipher) =>
    pem('EC PRIVATE KEY', `Proc-Type: 4,ENCRYPTED\\r?\\nDEK-Info: ${cipher},[^\\n]+\\r?\\n\\r?\\n`),
  assertApproximateSize(key, size) {
    const unit = typeof key === 'string' ? 'chars' : 'bytes'
    assert(key.length >= Math.floor(0.9 * size) && key.length <= Math.ceil(1.1 * size), `${key.length} ${unit}`)
  },
  testEncryptDecrypt(publicKey, privateKey) {
    const { publicEncrypt, privateDecrypt, privateEncrypt, publicDecrypt } = require('crypto')
    const plain = Buffer.from('Hello Node.js!', 'utf8')
    for (const key of [publicKey, privateKey]) {
      assert.strictEqual(privateDecrypt(privateKey, publicEncrypt(key, plain)).toString(), 'Hello Node.js!')
      assert.strictEqual(publicDecrypt(key, privateEncrypt(privateKey, plain)).toString(), 'Hello Node.js!')
    }
  },
  testSignVerify(publicKey, privateKey) {
    const { createSign, createVerify } = require('crypto')
    const message = Buffer.from('Hello Node.js!', 'utf8')
    const signature = createSign('SHA256').update(message).sign(privateKey)
    for (const key of [publicKey, privateKey]) assert(createVerify('SHA256').update(message).verify(key, signature))
  },
})

class Countdown {
  constructor(limit, callback) {
    this.remaining = limit
    this.callback = mustCall(callback)
  }
  dec() {
    this.remaining -= 1
    if (this.remaining === 0) this.callback()
    return this.remaining
  }
}

/** A small `node:test`: tests run one after the other, in the order in which they are named. */
let queue = Promise.resolve()
let waiting = 0
let hooks = { beforeEach: [], afterEach: [] }
function addTest(...values) {
  const name = typeof values[0] === 'string' ? values.shift() : ''
  const options = typeof values[0] === 'object' ? values.shift() : {}
  const body = values[0]
  if (typeof body !== 'function' || options.skip || options.todo) return Promise.resolve()
  const { beforeEach, afterEach } = hooks
  waiting += 1
  const runAfter = async (others) => {
    await others
    try {
      for (const hook of beforeEach) await hook()
      if (body.length > 1)
        await new Promise((resolve, reject) => body(context(name), (error) => (error ? reject(error) : resolve())))
      else await body(context(name))
      for (const hook of afterEach) await hook()
    } catch (error) {
      if (!(error instanceof Skipped)) record(error)
    }
    waiting -= 1
  }
  const ran = runAfter(queue)
  queue = ran
  return ran
}
function context(name) {
  return {
    name,
    assert,
    mock: addTest.mock,
    signal: new AbortController().signal,
    plan() {},
    skip() {},
    todo() {},
    diagnostic() {},
    after() {},
    before() {},
    beforeEach() {},
    afterEach() {},
    /** Within a test: runs at once. */
    async test(...values) {
      const body = values.find((value) => typeof value === 'function')
      await body?.(context(String(values[0])))
    },
  }
}
function describe(...values) {
  const body = values.find((value) => typeof value === 'function')
  const options = values.find((value) => typeof value === 'object') ?? {}
  if (options.skip || options.todo) return
  const outer = hooks
  hooks = { beforeEach: [...outer.beforeEach], afterEach: [...outer.afterEach] }
  body?.(context(''))
  hooks = outer
}
function mockFunction(given = () => {}, implementation = given) {
  const calls = []
  const mocked = function (...values) {
    const call = { arguments: values, this: this }
    calls.push(call)
    try {
      return (call.result = Reflect.apply(implementation, this, values))
    } catch (error) {
      call.error = error
      throw error
    }
  }
  mocked.mock = { calls, callCount: () => calls.length, resetCalls: () => calls.splice(0) }
  return mocked
}
const notRun = Object.assign(() => Promise.resolve(), { skip: () => {}, todo: () => {} })
Object.assign(addTest, {
  test: addTest,
  it: addTest,
  describe,
  suite: describe,
  skip: notRun,
  todo: notRun,
  only: addTest,
  before: (hook) => addTest('before', () => hook()),
  after: () => {},
  beforeEach: (hook) => hooks.beforeEach.push(hook),
  afterEach: (hook) => hooks.afterEach.push(hook),
  mock: {
    fn: mockFunction,
    method(object, name, implementation = object[name]) {
      return (object[name] = mockFunction(object[name], implementation))
    },
    reset() {},
    restoreAll() {},
  },
  default: addTest,
})
describe.skip = describe.todo = () => {}

const isMissing = ({ exact, minimum, actual }) => (exact === undefined ? actual < minimum : actual < exact)
const isWrong = ({ exact, minimum, actual }) => (exact === undefined ? actual < minimum : actual !== exact)

/**
 * Runs a test, waits for the calls that it expects and describes the first problem; empty for none.
 *
 * @param patience time for these calls, in milliseconds
 */
async function run(body, patience) {
  const start = Date.now()
  try {
    await body()
  } catch (error) {
    if (error instanceof Skipped) return { skipped: error.message }
    record(error)
  }
  await settle(start + patience)
  for (const listener of exits) {
    try {
      listener.call(shadow, 0)
    } catch (error) {
      record(error)
    }
  }
  for (const entry of expected.filter(isWrong)) {
    problems.push(
      new Error(`called ${entry.actual} times, expected ${entry.exact ?? entry.minimum}: ${entry.name} ${entry.place}`),
    )
  }
  const [first] = problems
  return first ? { problem: describeError(first) } : {}
}

async function settle(until) {
  let quiet = 0
  while (Date.now() < until && quiet < 3 && problems.length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 10))
    quiet = waiting === 0 && !expected.some(isMissing) ? quiet + 1 : 0
  }
}

function describeError(error) {
  const code = error.code === undefined ? '' : `[${String(error.code)}] `
  let text = String(error.message)
  if (error.generatedMessage === true) {
    const { inspect } = require('util')
    const show = (value) => inspect(value, { breakLength: Infinity }).slice(0, 300)
    text += ` :: actual ${show(error.actual)} expected ${show(error.expected)}`
  }
  return {
    text: `${error.name}: ${code}${text}`.slice(0, 1500),
    stack: String(error.stack).slice(0, 6000),
    code: String(error.code),
  }
}

module.exports = { common, crypto, Countdown, test: addTest, shadow, run }
