import type { Chances } from '../chaos/random.ts'
import type { Tenant } from './tenant.ts'

const host = 'Host: x\r\n'
const websocket = 'Connection: Upgrade\r\nUpgrade: websocket\r\n'
const long = 'x'.repeat(20_000)

/** Byte sequences that no conforming HTTP client sends. */
export function rawRequests({ chatUrl, credentials }: Tenant): string[] {
  const { pathname } = new URL(chatUrl)
  const session = '/v1/admin/session'
  const key = `x-user-key: ${credentials.user['x-user-key']}\r\n`
  const post = `POST ${pathname}/conversations HTTP/1.1\r\n${host}${key}`
  const targets = [
    '/%zz',
    '/%',
    '/%00',
    '/%c3%28',
    '//',
    '/.',
    '/../../etc/passwd',
    '*',
    'http://x/healthz',
    'http://[',
    '?',
    '',
  ]
  const methods = ['GET', 'HEAD', 'POST', 'OPTIONS', 'TRACE', 'CONNECT', 'PRI', 'M-SEARCH', 'get', 'GARBAGE']
  const paths = [
    '/docs',
    '/openapi.json',
    `${pathname}/openapi.json`,
    '/metrics',
    '/autoscale',
    '/readyz',
    '/webhooks/x',
    `${pathname}/hello`,
    ...['providers', 'sign-in', 'callback', 'token', 'sign-out'].map((name) => `${session}/${name}`),
  ]
  const ownPage = `${host}Origin: http://x\r\nContent-Length: 0\r\n`
  return [
    ...targets.flatMap((target) => methods.map((method) => `${method} ${target} HTTP/1.1\r\n${host}\r\n`)),
    ...paths.flatMap((entry) =>
      [entry, `${entry}/%zz`, `${entry}/%`, `${entry}?%zz`, `${entry}/x/y`].flatMap((path) =>
        ['GET', 'HEAD', 'PUT'].map((method) => `${method} ${path} HTTP/1.1\r\n${host}\r\n`),
      ),
    ),
    ...paths.map((entry) => `GET ${entry} HTTP/1.1\r\n${host}${websocket}\r\n`),
    ...paths.map((entry) => `GET ${entry} HTTP/1.1\r\n${host}Range: bytes=99999999-\r\nIf-Match: "x"\r\n\r\n`),
    `GET ${pathname}/conversations/x/listen HTTP/1.1\r\n${host}${websocket}Sec-WebSocket-Version: 99\r\n\r\n`,
    ...['', 'isobot_session', 'isobot_session=%00', `isobot_session=${long}`, 'isobot_sign_in=a.b.c.d.e'].flatMap(
      (cookie) => [
        `POST ${session}/token HTTP/1.1\r\n${ownPage}Cookie: ${cookie}\r\n\r\n`,
        `POST ${session}/sign-out HTTP/1.1\r\n${ownPage}Cookie: ${cookie}\r\n\r\n`,
        `GET ${session}/callback?code=x&state=%zz HTTP/1.1\r\n${host}Cookie: ${cookie}\r\n\r\n`,
      ],
    ),
    'garbage\r\n\r\n',
    '\r\n\r\n\r\n',
    '\0\0\0\0',
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    'GET /healthz HTTP/1.1\r\n\r\n',
    'GET /healthz HTTP/9.9\r\n\r\n',
    'GET /healthz\r\n\r\n',
    `GET /${long} HTTP/1.1\r\n${host}\r\n`,
    `GET /healthz HTTP/1.1\r\n${host}x-long: ${long}\r\n\r\n`,
    `GET /healthz HTTP/1.1\r\n${host}${'a: b\r\n'.repeat(3000)}\r\n`,
    `GET /healthz HTTP/1.1\r\n${host}bad name: x\r\n\r\n`,
    `GET /healthz HTTP/1.1\r\n${host}x: a\0b\r\n\r\n`,
    `GET /healthz HTTP/1.1\r\n${host}Host: y\r\n\r\n`,
    `GET /healthz HTTP/1.1\r\n${host}Expect: the-unexpected\r\n\r\n`,
    `${post}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}`,
    `${post}Content-Length: -1\r\n\r\n{}`,
    `${post}Content-Length: 99999999999999999999\r\n\r\n{}`,
    `${post}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`,
    `${post}Transfer-Encoding: gzip\r\n\r\n{}`,
    `${post}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
    `${post}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n-1\r\n\r\n`,
    `${post}Transfer-Encoding: chunked\r\n\r\n2;${long}\r\n{}\r\n0\r\n\r\n`,
    `${post}Transfer-Encoding: chunked\r\nTrailer: x\r\n\r\n2\r\n{}\r\n0\r\n${'x: y\r\n'.repeat(4000)}\r\n`,
    `${post}Content-Length: 10\r\n\r\n{}`,
    `${post}Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}`,
    `${post}Content-Encoding: gzip, br\r\nContent-Length: 2\r\n\r\n{}`,
    `${post}Content-Encoding: zstd\r\nContent-Length: 2\r\n\r\n{}`,
    `${post}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}`,
    `${post}Content-Type: application/json; charset=utf-99\r\nContent-Length: 2\r\n\r\n{}`,
    `${post}Idempotency-Key: deep\r\nContent-Length: 40012\r\n\r\n{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
    `${`GET /healthz HTTP/1.1\r\n${host}\r\n`.repeat(50)}garbage\r\n\r\n`,
    `${post}Content-Length: 2\r\n\r\n{}${post}Content-Length: 2\r\n\r\n{}garbage`,
  ]
}

/** Changes some bytes of a request; sometimes also cuts its second half off. */
export function mutatedBytes(bytes: string, chances: Chances): string {
  const changed = bytes.split('')
  for (let count = Math.floor(chances.between(1, 6)); count > 0; count--) {
    const place = Math.floor(chances.between(0, Math.min(changed.length, 400)))
    const what = chances.between(0, 1)
    if (what < 0.5) changed[place] = String.fromCharCode(Math.floor(chances.between(0, 256)))
    else if (what < 0.75) changed.splice(place, 1)
    else changed.splice(place, 0, chances.pick(['\r', '\n', '\r\n', '\0', ' ', '%', ':', '\t', '\x7f', '\xff']))
  }
  return chances.between(0, 1) < 0.2 ? changed.slice(0, changed.length / 2).join('') : changed.join('')
}
