import { describe } from 'vitest'
import { sandboxOfFile, testAsInNode } from './compare.ts'

const sandbox = sandboxOfFile()

describe('EventTarget and Event do what they do in Node', () => {
  testAsInNode(sandbox, [
    [
      'an event',
      `const event = new Event('a', { cancelable: true, bubbles: true }); return [event.type, event.cancelable, event.bubbles, event.composed, event.defaultPrevented, event.eventPhase, event.isTrusted, event.target]`,
    ],
    [
      'listeners in their order',
      `const target = new EventTarget(); const heard = []; target.addEventListener('a', () => heard.push(1)); target.addEventListener('a', () => heard.push(2)); target.addEventListener('b', () => heard.push(3)); target.dispatchEvent(new Event('a')); return heard`,
    ],
    [
      'a listener that is added twice',
      `const target = new EventTarget(); let heard = 0; const listener = () => { heard += 1 }; target.addEventListener('a', listener); target.addEventListener('a', listener); target.dispatchEvent(new Event('a')); return heard`,
    ],
    [
      'a listener that is removed',
      `const target = new EventTarget(); let heard = 0; const listener = () => { heard += 1 }; target.addEventListener('a', listener); target.removeEventListener('a', listener); target.dispatchEvent(new Event('a')); return heard`,
    ],
    [
      'a listener that hears once',
      `const target = new EventTarget(); let heard = 0; target.addEventListener('a', () => { heard += 1 }, { once: true }); target.dispatchEvent(new Event('a')); target.dispatchEvent(new Event('a')); return heard`,
    ],
    [
      'a listener with a signal',
      `const target = new EventTarget(); const controller = new AbortController(); let heard = 0; target.addEventListener('a', () => { heard += 1 }, { signal: controller.signal }); target.dispatchEvent(new Event('a')); controller.abort(); target.dispatchEvent(new Event('a')); return heard`,
    ],
    [
      'an object that listens',
      `const target = new EventTarget(); const seen = []; target.addEventListener('a', { name: 'me', handleEvent(event) { seen.push(this.name, event.type) } }); target.dispatchEvent(new Event('a')); return seen`,
    ],
    [
      'what a listener is called on',
      `const target = new EventTarget(); let seen; target.addEventListener('a', function (event) { seen = [this === target, event.currentTarget === target, event.target === target, event.eventPhase] }); const event = new Event('a'); target.dispatchEvent(event); return [seen, event.currentTarget]`,
    ],
    [
      'an event that is prevented',
      `const target = new EventTarget(); target.addEventListener('a', (event) => event.preventDefault()); return [target.dispatchEvent(new Event('a', { cancelable: true })), target.dispatchEvent(new Event('a'))]`,
    ],
    [
      'a passive listener',
      `const target = new EventTarget(); target.addEventListener('a', (event) => event.preventDefault(), { passive: true }); return target.dispatchEvent(new Event('a', { cancelable: true }))`,
    ],
    [
      'an event that is stopped',
      `const target = new EventTarget(); const heard = []; target.addEventListener('a', (event) => { heard.push(1); event.stopImmediatePropagation() }); target.addEventListener('a', () => heard.push(2)); target.dispatchEvent(new Event('a')); return heard`,
    ],
    [
      'listeners that are added meanwhile',
      `const target = new EventTarget(); const heard = []; target.addEventListener('a', () => { heard.push(1); target.addEventListener('a', () => heard.push(2)) }); target.dispatchEvent(new Event('a')); return heard`,
    ],
    [
      'an event within itself',
      `const target = new EventTarget(); const event = new Event('a'); let thrown; target.addEventListener('a', () => { try { target.dispatchEvent(event) } catch (error) { thrown = [error.name, error.code] } }); target.dispatchEvent(event); return typeof thrown`,
    ],
    ['a listener that is null', `new EventTarget().addEventListener('a', null); return 'fine'`],
    [
      'a class of its own',
      `class Mine extends EventTarget { fire() { return this.dispatchEvent(new Event('x')) } }; const mine = new Mine(); let heard = 0; mine.addEventListener('x', () => { heard += 1 }); return [mine.fire(), heard, mine instanceof EventTarget]`,
    ],
    [
      'an event of its own',
      `class Mine extends Event { constructor(value) { super('mine'); this.value = value } }; const target = new EventTarget(); let seen; target.addEventListener('mine', (event) => { seen = [event.value, event instanceof Mine] }); target.dispatchEvent(new Mine(7)); return seen`,
    ],
    [
      'a custom event',
      `const event = new CustomEvent('a', { detail: { b: 1 }, cancelable: true }); return [event.type, event.detail, event.cancelable, event instanceof Event, new CustomEvent('a').detail]`,
    ],
    [
      'where it goes',
      `const target = new EventTarget(); let path; target.addEventListener('a', (event) => { path = event.composedPath().map((one) => one === target) }); target.dispatchEvent(new Event('a')); return path`,
    ],
  ])
})

describe('AbortController and AbortSignal do what they do in Node', () => {
  testAsInNode(sandbox, [
    [
      'a signal at first',
      `const { signal } = new AbortController(); return [signal.aborted, signal.reason, signal.onabort, signal instanceof EventTarget]`,
    ],
    [
      'abort',
      `const controller = new AbortController(); controller.abort(); return [controller.signal.aborted, controller.signal.reason.name, controller.signal.reason.code, controller.signal.reason instanceof DOMException]`,
    ],
    [
      'abort with a reason',
      `const controller = new AbortController(); controller.abort('first'); controller.abort('second'); return controller.signal.reason`,
    ],
    [
      'abort with null',
      `const controller = new AbortController(); controller.abort(null); return controller.signal.reason`,
    ],
    [
      'its event comes once',
      `const controller = new AbortController(); const heard = []; controller.signal.onabort = (event) => heard.push(event.type, event.target === controller.signal); controller.abort(); controller.abort(); return heard`,
    ],
    [
      'an event of its own making aborts nothing',
      `const { signal } = new AbortController(); signal.dispatchEvent(new Event('abort')); return signal.aborted`,
    ],
    [
      'throwIfAborted',
      `const controller = new AbortController(); controller.signal.throwIfAborted(); controller.abort(new RangeError('x')); controller.signal.throwIfAborted()`,
    ],
    [
      'AbortSignal.abort',
      `return [AbortSignal.abort().reason.name, AbortSignal.abort('x').reason, AbortSignal.abort('x').aborted]`,
    ],
    ['no constructor', `return new AbortSignal()`],
    [
      'timeout',
      `const signal = AbortSignal.timeout(2); const before = signal.aborted; await new Promise((resolve) => { signal.onabort = resolve }); return [before, signal.aborted, signal.reason.name, signal.reason.code]`,
    ],
    ['timeout of nothing', `return AbortSignal.timeout()`],
    [
      'any',
      `const [one, other] = [new AbortController(), new AbortController()]; const any = AbortSignal.any([one.signal, other.signal]); const before = any.aborted; other.abort('b'); return [before, any.aborted, any.reason]`,
    ],
    [
      'any of one that is aborted',
      `return AbortSignal.any([new AbortController().signal, AbortSignal.abort('x')]).reason`,
    ],
    ['any of none', `return AbortSignal.any([]).aborted`],
    [
      'any of any',
      `const one = new AbortController(); const any = AbortSignal.any([AbortSignal.any([one.signal])]); one.abort('x'); return any.reason`,
    ],
    ['any of what are no signals', `return AbortSignal.any([1])`],
    ['their tags', `const controller = new AbortController(); return [String(controller), String(controller.signal)]`],
    [
      'its reason is one',
      `const controller = new AbortController(); controller.abort(); return controller.signal.reason === controller.signal.reason`,
    ],
  ])
})

describe('DOMException is what it is in Node', () => {
  testAsInNode(sandbox, [
    [
      'without anything',
      `const error = new DOMException(); return [error.name, error.message, error.code, String(error)]`,
    ],
    [
      'with a name',
      `const error = new DOMException('m', 'NotFoundError'); return [error.name, error.message, error.code, String(error), error instanceof Error]`,
    ],
    ['with a name of its own', `const error = new DOMException('m', 'Mine'); return [error.name, error.code]`],
    [
      'with a cause',
      `const error = new DOMException('m', { name: 'DataCloneError', cause: 7 }); return [error.name, error.code, error.cause, 'cause' in error, 'cause' in new DOMException()]`,
    ],
    [
      'its codes',
      `return [DOMException.ABORT_ERR, DOMException.TIMEOUT_ERR, DOMException.INDEX_SIZE_ERR, new DOMException().DATA_CLONE_ERR]`,
    ],
    ['its tag', `return Object.prototype.toString.call(new DOMException())`],
    ['its stack begins with it', `return new DOMException('m', 'AbortError').stack.split('\\n')[0]`],
    [
      'all names',
      `return ['IndexSizeError', 'SyntaxError', 'InvalidStateError', 'NetworkError', 'QuotaExceededError', 'EncodingError', 'OperationError', 'NotAllowedError'].map((name) => new DOMException('', name).code)`,
    ],
  ])
})
