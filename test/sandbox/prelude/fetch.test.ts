import { describe } from 'vitest'
import { sandboxOfFile, testAsInNode, type Case } from './compare.ts'

const sandbox = sandboxOfFile()

describe('Headers do what they do in Node', () => {
  testAsInNode(sandbox, [
    ['made of an object', `return [...new Headers({ B: '2', a: ' 1 ', 'X-c': 3 })]`],
    ['made of pairs', `return [...new Headers([['b', '2'], ['A', '1'], ['b', '3']])]`],
    ['made of others', `return [...new Headers(new Headers({ a: '1' }))]`],
    ['made of a map', `return [...new Headers(new Map([['a', '1']]))]`],
    ['made of nothing', `return [[...new Headers()], [...new Headers(undefined)]]`],
    ['made of a text', `return new Headers('a: b')`],
    ['made of a number', `return new Headers(1)`],
    ['made of what are no pairs', `return new Headers([['a']])`],
    ['made of triples', `return new Headers([['a', 'b', 'c']])`],
    [
      'append, set and get',
      `const headers = new Headers(); headers.append('a', '1'); headers.append('A', '2'); const one = headers.get('a'); headers.set('a', '3'); return [one, headers.get('A'), headers.get('b')]`,
    ],
    [
      'has and delete',
      `const headers = new Headers({ a: '1' }); const one = headers.has('A'); headers.delete('A'); return [one, headers.has('a'), headers.delete('a')]`,
    ],
    [
      'values that are empty',
      `const headers = new Headers({ a: '' }); headers.append('a', ''); return [headers.get('a'), headers.has('a')]`,
    ],
    [
      'cookies',
      `const headers = new Headers([['set-cookie', 'a=1'], ['Set-Cookie', 'b=2'], ['x', '1']]); return [headers.getSetCookie(), headers.get('set-cookie'), [...headers], new Headers().getSetCookie()]`,
    ],
    [
      'forEach',
      `const seen = []; new Headers({ b: '1', a: '2' }).forEach(function (value, name, all) { seen.push([value, name, all.get('a'), this.x]) }, { x: 1 }); return seen`,
    ],
    [
      'iterators',
      `const headers = new Headers({ b: '1', a: '2' }); return [[...headers.keys()], [...headers.values()], [...headers.entries()], Object.prototype.toString.call(headers)]`,
    ],
    ...['', 'a b', 'a:', 'ä', 'a\n', 'a\0', '"a"', '(a)', 'a,b', '*~!#$%&`|^_.+-'].map((name): Case => [
      `the name ${JSON.stringify(name)}`,
      `return [...new Headers([[${JSON.stringify(name)}, '1']])]`,
    ]),
    ...['a b', ' a\t', '\r\na\r\n', 'a\nb', 'a\rb', 'a\0b', 'ÿ', '€', 'a\x7f', 'a\x01'].map((value): Case => [
      `the value ${JSON.stringify(value)}`,
      `return [...new Headers({ a: ${JSON.stringify(value)} })]`,
    ]),
    ['the value undefined', `return [...new Headers({ a: undefined })]`],
  ])
})

describe('Request does what it does in Node', () => {
  testAsInNode(sandbox, [
    [
      'its parts',
      `const request = new Request('https://a.example/b?c#d'); return [request.url, request.method, request.redirect, request.body, request.bodyUsed, [...request.headers], request.signal.aborted, Object.prototype.toString.call(request)]`,
    ],
    ['of a URL', `return new Request(new URL('https://a.example/b')).url`],
    ['of no URL', `return new Request('/b')`],
    ['with credentials', `return new Request('https://u:p@a.example')`],
    ...['get', 'Post', 'PATCH', 'custom', 'delete', 'TRACE', 'connect', '', 'a b', 'a\n'].map((method): Case => [
      `with the method ${JSON.stringify(method)}`,
      `return new Request('https://a.example', { method: ${JSON.stringify(method)} }).method`,
    ]),
    [
      'with a body that it can not have',
      `return ['GET', 'HEAD'].map((method) => { try { new Request('https://a.example', { method, body: 'x' }) } catch (error) { return error.name } })`,
    ],
    ['with an unknown redirect mode', `return new Request('https://a.example', { redirect: 'maybe' })`],
    [
      'of another',
      `const one = new Request('https://a.example', { method: 'PUT', body: 'x', headers: { a: '1' }, redirect: 'error' }); const other = new Request(one); return [other.method, other.headers.get('a'), other.redirect, await other.text(), one.bodyUsed]`,
    ],
    [
      'of another, changed',
      `const one = new Request('https://a.example', { method: 'PUT', body: 'x', headers: { a: '1' } }); const other = new Request(one, { method: 'POST', body: 'y', headers: { b: '2' } }); return [other.method, [...other.headers], await other.text(), one.bodyUsed, await one.text()]`,
    ],
    [
      'of another that was read',
      `const one = new Request('https://a.example', { method: 'PUT', body: 'x' }); await one.text(); return new Request(one)`,
    ],
    [
      'cloned',
      `const one = new Request('https://a.example', { method: 'PUT', body: 'x' }); const other = one.clone(); other.headers.set('a', '1'); return [await one.text(), await other.text(), one.headers.get('a'), other.url]`,
    ],
    [
      'cloned when it was read',
      `const one = new Request('https://a.example', { method: 'PUT', body: 'x' }); await one.text(); return one.clone()`,
    ],
    [
      'with a signal',
      `const controller = new AbortController(); const request = new Request('https://a.example', { signal: controller.signal }); controller.abort('why'); return [request.signal.aborted, request.signal.reason]`,
    ],
    [
      'of another with a signal',
      `const controller = new AbortController(); const request = new Request(new Request('https://a.example', { signal: controller.signal })); controller.abort('why'); return [request.signal.aborted, request.signal.reason]`,
    ],
    ['its JSON', `return new Request('https://a.example', { method: 'POST', body: JSON.stringify({ a: 1 }) }).json()`],
    [
      'its type by its body',
      `return ['text', new URLSearchParams('a=1'), new Blob(['x'], { type: 'a/b' }), new Blob(['x']), new Uint8Array(1)].map((body) => new Request('https://a.example', { method: 'POST', body }).headers.get('content-type'))`,
    ],
    [
      'the type that it is given',
      `return new Request('https://a.example', { method: 'POST', body: 'x', headers: { 'Content-Type': 'a/b' } }).headers.get('content-type')`,
    ],
  ])
})

describe('Response does what it does in Node', () => {
  testAsInNode(sandbox, [
    [
      'its parts',
      `const response = new Response(); return [response.status, response.ok, response.statusText, response.type, response.url, response.redirected, response.body, [...response.headers], Object.prototype.toString.call(response)]`,
    ],
    ...[100, 101, 199, 200, 204, 205, 304, 404, 599, 600, 'x', '201', 200.5].map((status): Case => [
      `with the status ${status}`,
      `const response = new Response(null, { status: ${JSON.stringify(status)} }); return [response.status, response.ok]`,
    ]),
    [
      'with a status that has no body',
      `return [101, 204, 205, 304].map((status) => { try { new Response('x', { status }) } catch (error) { return error.name } })`,
    ],
    ['with a wrong status text', `return new Response(null, { statusText: 'a\\nb' })`],
    [
      'Response.json',
      `const response = Response.json({ a: [1] }, { status: 201, headers: { b: '1' } }); return [response.status, [...response.headers], await response.text()]`,
    ],
    [
      'Response.json with a type',
      `return Response.json(1, { headers: { 'content-type': 'a/b' } }).headers.get('content-type')`,
    ],
    ['Response.json of what has none', `return Response.json(undefined)`],
    ['Response.json of a circle', `const one = {}; one.one = one; return Response.json(one)`],
    [
      'Response.redirect',
      `const response = Response.redirect('https://a.example/b', 307); return [response.status, response.headers.get('location'), response.body]`,
    ],
    ['Response.redirect with another status', `return Response.redirect('https://a.example', 200)`],
    ['Response.redirect to nowhere', `return Response.redirect('a b')`],
    [
      'Response.error',
      `const response = Response.error(); return [response.status, response.type, response.ok, response.body]`,
    ],
    [
      'cloned',
      `const response = new Response('x', { status: 404, statusText: 'No', headers: { a: '1' } }); const copy = response.clone(); return [copy.status, copy.statusText, copy.headers.get('a'), await copy.text(), response.bodyUsed, await response.text()]`,
    ],
    ['cloned when it was read', `const response = new Response('x'); await response.text(); return response.clone()`],
  ])
})

describe('a body does what it does in Node', () => {
  testAsInNode(sandbox, [
    ...['text', 'json', 'arrayBuffer', 'bytes'].map((method): Case => [
      `${method} of a text`,
      `const response = new Response('{"a":"é"}'); const value = await response.${method}(); return [value, response.bodyUsed]`,
    ]),
    ...['text', 'json', 'arrayBuffer', 'bytes', 'formData'].map((method): Case => [
      `${method} of nothing`,
      `const response = new Response(); const value = await response.${method}(); return [value, response.bodyUsed]`,
    ]),
    [
      'blob',
      `const blob = await new Response('abc', { headers: { 'content-type': 'a/B' } }).blob(); return [blob.size, blob.type, await blob.text(), blob instanceof Blob]`,
    ],
    ['read twice', `const response = new Response('x'); await response.text(); return response.json()`],
    ['of nothing, read twice', `const response = new Response(); await response.text(); return response.text()`],
    ['no JSON', `return new Response('{').json()`],
    [
      'a byte order mark',
      `return [await new Response('\\uFEFFx').text(), await new Response('\\uFEFF1').json(), await new Response('\\uFEFFx').bytes()]`,
    ],
    ['bytes that are no UTF-8', `return new Response(Uint8Array.of(65, 255, 66)).text()`],
    [
      'bytes, copied',
      `const bytes = Uint8Array.of(1, 2); const response = new Response(bytes); bytes[0] = 9; return response.bytes()`,
    ],
    ['a part of a buffer', `return new Response(new DataView(Uint8Array.of(1, 2, 3).buffer, 1, 1)).bytes()`],
    [
      'a number and an object',
      `return [await new Response(1).text(), await new Response({}).text(), await new Response(null).text()]`,
    ],
    ['half a pair', `return new Response('a\\ud800').bytes()`],
    ['a query', `return new Response(new URLSearchParams({ a: 'b c' })).text()`],
    [
      'a stream',
      `const stream = new ReadableStream({ start(controller) { controller.enqueue(Uint8Array.of(65)); controller.enqueue(Uint8Array.of(66)); controller.close() } }); const response = new Response(stream); return [response.body === stream, await response.text(), response.bodyUsed]`,
    ],
    [
      'a stream of texts',
      `const stream = new ReadableStream({ start(controller) { controller.enqueue('a'); controller.close() } }); return new Response(stream).text()`,
    ],
    [
      'a stream that fails',
      `const stream = new ReadableStream({ start(controller) { controller.error(new RangeError('no')) } }); return new Response(stream).text()`,
    ],
    [
      'a stream that was read',
      `const stream = new ReadableStream({ start(controller) { controller.close() } }); await stream.getReader().read(); return new Response(stream)`,
    ],
    [
      'read as a stream',
      `const parts = []; for await (const part of new Response('abc').body) parts.push(...part); return parts`,
    ],
    [
      'read as a stream, then whole',
      `const response = new Response('abc'); const reader = response.body.getReader(); await reader.read(); reader.releaseLock(); return response.text()`,
    ],
    [
      'read while it is read',
      `const response = new Response('abc'); response.body.getReader(); return response.text()`,
    ],
    [
      'cloned as a stream',
      `const response = new Response('abc'); const copy = response.clone(); return [await new Response(copy.body).text(), await response.text()]`,
    ],
    [
      'piped through',
      `return new Response(new Response('abc').body.pipeThrough(new TransformStream({ transform(chunk, controller) { controller.enqueue(chunk.map((byte) => byte - 32)) } }))).text()`,
    ],
    [
      'a form, read',
      `return [...await new Response('a=1&b=x+y', { headers: { 'content-type': 'application/x-www-form-urlencoded' } }).formData()]`,
    ],
    ['a form that is none', `return new Response('a=1').formData()`],
    [
      'a multipart form, there and back',
      `const form = new FormData(); form.append('a', '1\\n2'); form.append('é"', new File([Uint8Array.of(0, 255, 13, 10)], 'n"ame.bin', { type: 'a/b' })); const read = await new Response(form).formData(); const file = read.get('é"'); return [read.get('a'), file.name, file.type, await file.bytes()]`,
    ],
    [
      'a multipart form as others write it',
      `const body = '--x\\r\\nContent-Disposition: form-data; name="a"\\r\\n\\r\\n1\\r\\n--x\\r\\nContent-Disposition: form-data; name="f"; filename="g.txt"\\r\\nContent-Type: text/plain\\r\\n\\r\\nhi\\r\\n\\r\\n--x--\\r\\n'; const form = await new Response(body, { headers: { 'content-type': 'multipart/form-data; boundary=x' } }).formData(); return [form.get('a'), form.get('f').name, form.get('f').type, await form.get('f').text()]`,
    ],
    [
      'a multipart form without an end',
      `return new Response('--x\\r\\nContent-Disposition: form-data; name="a"\\r\\n\\r\\n1', { headers: { 'content-type': 'multipart/form-data; boundary=x' } }).formData()`,
    ],
  ])
})

describe('Blob and File do what they do in Node', () => {
  testAsInNode(sandbox, [
    [
      'made of parts',
      `const blob = new Blob(['a', Uint8Array.of(66), new Uint8Array([67, 68]).buffer, new Blob(['e']), 1, {}]); return [blob.size, await blob.text(), blob.type]`,
    ],
    ['made of nothing', `const blob = new Blob(); return [blob.size, await blob.text(), await blob.arrayBuffer()]`],
    ['made of a text', `return new Blob('abc')`],
    ['made of a set', `return new Blob(new Set(['a', 'b'])).text()`],
    ['types', `return ['Text/PLAIN', 'a\\u00e9', '', undefined, null].map((type) => new Blob([], { type }).type)`],
    ...[
      '',
      '1',
      '1, 2',
      '-2',
      '-2, -1',
      '2, 1',
      '0, 100',
      '-100, 2',
      'NaN, 2',
      'undefined, undefined',
      "0, 2, 'A/b'",
    ].map((range): Case => [
      `slice(${range})`,
      `const part = new Blob(['abcd'], { type: 'x/y' }).slice(${range}); return [part.size, part.type, await part.text()]`,
    ]),
    ['bytes and buffers', `const blob = new Blob(['é']); return [await blob.bytes(), await blob.arrayBuffer()]`],
    [
      'as a stream',
      `const parts = []; for await (const part of new Blob(['abc']).stream()) parts.push(...part); return parts`,
    ],
    ['a text that is no UTF-8', `return new Blob([Uint8Array.of(0xef, 0xbb, 0xbf, 65, 255)]).text()`],
    [
      'a file',
      `const file = new File(['ab'], 'ä.txt', { type: 'text/plain', lastModified: 5 }); return [file.name, file.size, file.type, file.lastModified, file instanceof Blob, Object.prototype.toString.call(file), await file.text()]`,
    ],
    ['a file without a name', `return new File(['a'])`],
    ['the time of a file', `return Math.abs(new File([], 'a').lastModified - Date.now()) < 1000`],
    ['their tags', `return [String(new Blob()), String(new FormData())]`],
  ])
})

describe('FormData does what it does in Node', () => {
  testAsInNode(sandbox, [
    [
      'append and get',
      `const form = new FormData(); form.append('a', 1); form.append('a', null); form.append('b', 'x'); return [form.get('a'), form.getAll('a'), form.get('c'), form.getAll('c'), form.has('b'), form.has('c')]`,
    ],
    [
      'set',
      `const form = new FormData(); form.append('a', '1'); form.append('b', '2'); form.append('a', '3'); form.set('a', '4'); form.set('c', '5'); return [...form]`,
    ],
    [
      'delete',
      `const form = new FormData(); form.append('a', '1'); form.append('b', '2'); form.delete('a'); form.delete('z'); return [...form]`,
    ],
    [
      'files',
      `const form = new FormData(); form.append('a', new Blob(['x'], { type: 'a/b' })); form.append('b', new File(['y'], 'n')); form.append('c', new File(['z'], 'n'), 'm'); return [...form].map(([name, file]) => [name, file.name, file.type, file instanceof File])`,
    ],
    ['a name for what is no file', `return new FormData().append('a', 'b', 'c')`],
    ['made of something', `return new FormData({})`],
    ['append without a value', `return new FormData().append('a')`],
    [
      'iterators',
      `const form = new FormData(); form.append('a', '1'); form.append('a', '2'); const seen = []; form.forEach((value, name) => seen.push(name, value)); return [[...form.keys()], [...form.values()], [...form.entries()], seen]`,
    ],
  ])
})

describe('fetch of data URLs does what it does in Node', () => {
  testAsInNode(sandbox, [
    [
      'in base64',
      `const response = await fetch('data:application/json;base64,eyJhIjoiw6QifQ=='); return [response.status, response.headers.get('content-type'), await response.json()]`,
    ],
    ['percent-encoded', `return (await fetch('data:text/plain;charset=utf-8,a%20b%2C%C3%A4#c')).text()`],
    ['with a percent sign for itself', `return (await fetch('data:,100%,%2,%zz')).text()`],
    ['of bytes that are no text', `return [...(await (await fetch('data:,%FF%00a')).bytes())]`],
    ['in base64 with spaces and escapes', `return (await fetch('data:;base64,YQ%3D%3D%20')).text()`],
    ['in broken base64', `return await fetch('data:;base64,*')`],
    ['without a type', `return (await fetch('data:,a')).headers.get('content-type')`],
  ])
})
