import { once } from 'node:events'
import { connect } from 'node:tls'
import type { Config } from '#shared/config/config.ts'
import { codeOf, wordsOf } from '#shared/connectivity/connect-errors.ts'
import { findingsOf, type Finding } from './finding.ts'

const { ok, warn, fail } = findingsOf('Address')

const answerMilliseconds = 5000
const wantedDays = 14
const dayMilliseconds = 24 * 3600 * 1000

/** Checks that the platform answers at its public address, and how long its certificate is valid. */
export async function checkAddress({ http: { baseUrl } }: Config): Promise<Finding[]> {
  const answers = await checkAnswer(baseUrl)
  const { protocol } = new URL(baseUrl)
  return protocol === 'https:' ? [answers, ...(await checkCertificate(baseUrl))] : [answers]
}

async function checkAnswer(baseUrl: string): Promise<Finding> {
  try {
    const response = await fetch(`${baseUrl}/readyz`, { signal: AbortSignal.timeout(answerMilliseconds) })
    const body = (await response.json().catch(() => ({}))) as Record<string, string>
    if (response.ok && body['status'] === 'ok') return ok(`The api answers at ${baseUrl} and is ready`)
    if (body['status'] === undefined) {
      const remedy =
        'set ISOBOT_BASE_URL to the api’s address, or configure the router in front of it to forward requests'
      return fail(`Another server answers at ${baseUrl} (${response.status})`, remedy)
    }
    const away = Object.entries(body).filter(([name, state]) => name !== 'status' && state !== 'ok')
    return fail(
      `The api at ${baseUrl} cannot reach ${away.map(([name]) => name).join(', ')}`,
      'see its log and the other findings',
    )
  } catch (error) {
    const code = codeOf(error)
    if (code.includes('CERT') || code.includes('SIGNATURE')) {
      const remedy = 'get a certificate from an authority that clients trust'
      return fail(`The certificate of ${baseUrl} is not accepted: ${wordsOf(error)}`, remedy)
    }
    return warn(
      `No server answers at ${baseUrl}: ${wordsOf(error)}`,
      'start the api, or set ISOBOT_BASE_URL to the address that users connect to',
    )
  }
}

async function checkCertificate(baseUrl: string): Promise<Finding[]> {
  const { hostname, port } = new URL(baseUrl)
  const socket = connect({ host: hostname, port: Number(port || 443), servername: hostname, rejectUnauthorized: false })
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(answerMilliseconds) })
    const days = Math.floor((Date.parse(socket.getPeerCertificate().valid_to) - Date.now()) / dayMilliseconds)
    const message = `The certificate of ${hostname} is valid for ${days} days`
    if (days >= wantedDays) return [ok(message)]
    return [days < 0 ? fail(message, 'renew it') : warn(message, 'renew it, or check its automatic renewal')]
  } catch {
    // `checkAnswer` reports an unreachable address.
    return []
  } finally {
    socket.destroy()
  }
}
