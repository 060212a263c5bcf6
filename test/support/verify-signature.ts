import { createHash, createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

/** Headers that change what a request does, so that they have to be signed where they are sent. */
const mustBeSigned = /^(host|x-amz-.+)$/

/** Whether a request has a valid signature of version 4, recomputed from its specification. */
export function verifySignature({ method, url = '', headers }: IncomingMessage, secret: string): boolean {
  const [, date = '', region, service, names = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=[^/]+\/(\d{8})\/([^/]+)\/(s3)\/aws4_request, SignedHeaders=([^,]+), Signature=(\w{64})$/.exec(
      headers.authorization ?? '',
    ) ?? []
  const signed = names.split(';')
  const unsigned = Object.keys(headers).filter((name) => mustBeSigned.test(name) && !signed.includes(name))
  if (!signature || unsigned.length > 0 || signed.join() !== signed.toSorted().join()) return false
  const [path = '', query = ''] = url.split('?')
  const canonical = [
    method,
    path,
    query.split('&').filter(Boolean).toSorted().join('&'),
    ...signed.map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    names,
    headers['x-amz-content-sha256'],
  ].join('\n')
  const time = String(headers['x-amz-date'])
  const scope = `${date}/${region}/${service}/aws4_request`
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')
  const key = [region!, service!, 'aws4_request'].reduce(hmac, hmac(`AWS4${secret}`, date))
  return time.startsWith(date) && hmac(key, text).toString('hex') === signature
}
