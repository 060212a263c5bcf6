import { describe } from 'vitest'
import { sandboxOfFile, testAsInNode } from './compare.ts'

const sandbox = sandboxOfFile()

const numbers = `const numbers = (count) => { let next = 0; return new ReadableStream({ pull(controller) { if (next < count) controller.enqueue(next++); else controller.close() } }) }
const all = async (stream) => { const parts = []; for await (const part of stream) parts.push(part); return parts }`

describe('streams do what they do in Node', () => {
  testAsInNode(sandbox, [
    [
      'read by a reader',
      `${numbers}; const reader = numbers(2).getReader(); return [await reader.read(), await reader.read(), await reader.read(), await reader.closed]`,
    ],
    ['read by iteration', `${numbers}; return all(numbers(3))`],
    [
      'left in the middle',
      `let reason; const stream = new ReadableStream({ start(controller) { controller.enqueue(1); controller.enqueue(2) }, cancel(given) { reason = [given] } }); for await (const part of stream) break; return [reason, stream.locked]`,
    ],
    [
      'left, but kept',
      `${numbers}; const stream = numbers(3); for await (const part of stream.values({ preventCancel: true })) break; return all(stream)`,
    ],
    ['locked twice', `${numbers}; const stream = numbers(1); stream.getReader(); return stream.getReader()`],
    [
      'read after the lock is gone',
      `${numbers}; const reader = numbers(1).getReader(); reader.releaseLock(); return reader.read()`,
    ],
    [
      'cancelled',
      `let seen; const stream = new ReadableStream({ cancel(reason) { seen = reason } }); await stream.cancel('why'); return [seen, await stream.getReader().read()]`,
    ],
    [
      'failed',
      `const stream = new ReadableStream({ start(controller) { controller.error(new RangeError('no')) } }); return stream.getReader().read()`,
    ],
    [
      'failed while it is pulled',
      `const stream = new ReadableStream({ pull() { throw new RangeError('no') } }); return all(stream)`.replace(
        'return',
        `${numbers}; return`,
      ),
    ],
    [
      'filled after the end',
      `const stream = new ReadableStream({ start(controller) { controller.close(); controller.enqueue(1) } }); return stream`,
    ],
    [
      'how much is wanted',
      `let seen; new ReadableStream({ start(controller) { seen = [controller.desiredSize]; controller.enqueue('ab'); seen.push(controller.desiredSize) } }, { highWaterMark: 5, size: (chunk) => chunk.length }); return seen`,
    ],
    [
      'strategies',
      `return [new CountQueuingStrategy({ highWaterMark: 3 }).size('abc'), new ByteLengthQueuingStrategy({ highWaterMark: 3 }).size(new Uint8Array(7)), new CountQueuingStrategy({ highWaterMark: 3 }).highWaterMark]`,
    ],
    ['divided', `${numbers}; const [one, other] = numbers(3).tee(); return [await all(one), await all(other)]`],
    ['of a list', `${numbers}; return all(ReadableStream.from([1, 2, 3]))`],
    ['of a generator', `${numbers}; return all(ReadableStream.from((async function* () { yield 1; yield 2 })()))`],
    ['of nothing to iterate', `return ReadableStream.from(1)`],
    [
      'written',
      `const parts = []; const writer = new WritableStream({ write(chunk) { parts.push(chunk) }, close() { parts.push('end') } }).getWriter(); await writer.write(1); writer.write(2); await writer.close(); return parts`,
    ],
    [
      'written after the end',
      `const writer = new WritableStream().getWriter(); await writer.close(); return writer.write(1)`,
    ],
    [
      'written with an error',
      `const writer = new WritableStream({ write() { throw new RangeError('no') } }).getWriter(); writer.closed.catch(() => {}); return writer.write(1)`,
    ],
    [
      'aborted',
      `let seen; const stream = new WritableStream({ abort(reason) { seen = reason } }); await stream.abort('why'); return seen`,
    ],
    [
      'its signal',
      `let signal; const stream = new WritableStream({ start(controller) { signal = controller.signal } }); await stream.abort('why'); return [signal.aborted, signal.reason]`,
    ],
    [
      'slow to write',
      `let written = 0; const stream = new WritableStream({ async write() { await new Promise((resolve) => setTimeout(resolve, 1)); written += 1 } }, { highWaterMark: 1 }); const writer = stream.getWriter(); const sizes = [writer.desiredSize]; writer.write(1); sizes.push(writer.desiredSize); await writer.ready; return [sizes, written]`,
    ],
    [
      'transformed',
      `${numbers}; return all(numbers(3).pipeThrough(new TransformStream({ transform(chunk, controller) { controller.enqueue(chunk * 2); controller.enqueue('x') }, flush(controller) { controller.enqueue('end') } })))`,
    ],
    [
      'transformed into nothing',
      `${numbers}; return all(numbers(3).pipeThrough(new TransformStream({ transform(chunk, controller) { controller.terminate() } })))`,
    ],
    [
      'transformed with an error',
      `${numbers}; return all(numbers(3).pipeThrough(new TransformStream({ transform() { throw new RangeError('no') } })))`,
    ],
    [
      'a transform that changes nothing',
      `${numbers}; const { readable, writable } = new TransformStream(); const writer = writable.getWriter(); writer.write('a'); writer.close(); return all(readable)`,
    ],
    [
      'piped',
      `${numbers}; const parts = []; await numbers(3).pipeTo(new WritableStream({ write(chunk) { parts.push(chunk) } })); return parts`,
    ],
    [
      'piped into what fails',
      `${numbers}; let reason; const source = new ReadableStream({ pull(controller) { controller.enqueue(1) }, cancel(given) { reason = given.name } }); try { await source.pipeTo(new WritableStream({ write() { throw new RangeError('no') } })) } catch (error) { return [error.name, reason] }`,
    ],
    [
      'piped until it is aborted',
      `${numbers}; const controller = new AbortController(); const piping = new ReadableStream({ pull: () => new Promise(() => {}) }).pipeTo(new WritableStream(), { signal: controller.signal }); controller.abort(new RangeError('stop')); return piping`,
    ],
    [
      'piped, and left open',
      `${numbers}; const parts = []; const target = new WritableStream({ write(chunk) { parts.push(chunk) }, close() { parts.push('end') } }); await numbers(1).pipeTo(target, { preventClose: true }); await numbers(1).pipeTo(target); return parts`,
    ],
    [
      'bytes',
      `const stream = new ReadableStream({ type: 'bytes', start(controller) { controller.enqueue(Uint8Array.of(1, 2, 3)); controller.close() } }); const reader = stream.getReader({ mode: 'byob' }); const first = await reader.read(new Uint8Array(2)); return [first, await reader.read(new Uint8Array(2))]`,
    ],
    [
      'bytes, as they are wanted',
      `let asked; const stream = new ReadableStream({ type: 'bytes', pull(controller) { asked = controller.byobRequest.view.byteLength; controller.byobRequest.view[0] = 7; controller.byobRequest.respond(1) } }); const { value } = await stream.getReader({ mode: 'byob' }).read(new Uint8Array(4)); return [asked, value]`,
    ],
    ['bytes that are none', `new ReadableStream({ type: 'bytes', start(controller) { controller.enqueue('a') } })`],
    [
      'their tags',
      `const pair = new TransformStream(); return [pair, pair.readable, pair.writable].map((one) => Object.prototype.toString.call(one))`,
    ],
  ])
})

describe('streams of text do what they do in Node', () => {
  testAsInNode(sandbox, [
    [
      'encoded',
      `${numbers}; return all(ReadableStream.from(['a', '', 'é€', '😀']).pipeThrough(new TextEncoderStream()))`,
    ],
    [
      'encoded with a pair in two parts',
      `${numbers}; const bytes = (await all(ReadableStream.from(['a\\ud83d', '\\ude00b', '\\ud83d']).pipeThrough(new TextEncoderStream()))).flatMap((part) => [...part]); return bytes`,
    ],
    [
      'decoded',
      `${numbers}; return (await all(ReadableStream.from([Uint8Array.of(0xe2, 0x82), Uint8Array.of(0xac, 65), Uint8Array.of(0xc3)]).pipeThrough(new TextDecoderStream()))).join('')`,
    ],
    [
      'decoded strictly',
      `${numbers}; return all(ReadableStream.from([Uint8Array.of(255)]).pipeThrough(new TextDecoderStream('utf-8', { fatal: true })))`,
    ],
    [
      'their options',
      `const decoder = new TextDecoderStream('utf8', { fatal: true, ignoreBOM: true }); return [decoder.encoding, decoder.fatal, decoder.ignoreBOM, new TextEncoderStream().encoding]`,
    ],
    [
      'lines of a body',
      `const lines = []; let rest = ''; for await (const part of new Response('a\\nbé\\nc').body.pipeThrough(new TextDecoderStream())) { const parts = (rest + part).split('\\n'); rest = parts.pop(); lines.push(...parts) } return [...lines, rest]`,
    ],
  ])
})
