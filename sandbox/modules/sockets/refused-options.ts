import { codedError } from '../../prelude/node-errors.ts'

const platformVerifies = 'the platform verifies the certificate before anything is sent'
const noOwnCertificate = 'connections from isolates have no certificate of their own'
const platformEncrypts = 'the platform encrypts, without this option'

/** Options of `tls` by which code would protect a connection, and that have no effect here; with the reason. */
const ofTls: Record<string, string> = {
  checkServerIdentity: `${platformVerifies}, and the isolate does not see it: give its authority in ca, or its name in servername`,
  secureContext: 'give its options to connect',
  pskCallback: 'the platform has no keys that are shared in advance',
  cert: noOwnCertificate,
  key: noOwnCertificate,
  pfx: noOwnCertificate,
  privateKeyIdentifier: noOwnCertificate,
  crl: platformVerifies,
  requestOCSP: platformVerifies,
  allowPartialTrustChain: platformVerifies,
  secureProtocol: 'give minVersion and maxVersion',
  secureOptions: platformEncrypts,
  sigalgs: platformEncrypts,
  ecdhCurve: platformEncrypts,
  minDHSize: platformEncrypts,
}

/** Options of `net` by which code would decide whom it connects to. */
const ofNet: Record<string, string> = {
  lookup: 'the platform resolves hosts, and checks their addresses',
  blockList: 'the platform resolves hosts, and checks their addresses',
  onread: 'listen to data',
}

/**
 * Those of `https`, whose connections the platform shares. `ciphers` is not among them: the list that the platform
 * offers is Node's, without a cipher that is known to be weak, and stripe names a list in each request.
 */
const ofRequests: Record<string, string> = {
  ...ofTls,
  ca: 'the platform accepts certificates of the public authorities only: connect with tls, or leave it out',
  minVersion: platformEncrypts,
  lookup: ofNet['lookup']!,
}

/** Marks the check below: `tls` and `https` are scripts of their own, each with its copy. */
const ofPlatform = Symbol.for('isobot.checkServerIdentity')

/** Whether a value asks for nothing which the platform does not do without the option. */
const isNeedless: Record<string, (value: unknown) => boolean> = {
  checkServerIdentity: (value) => typeof value === 'function' && ofPlatform in value,
  ecdhCurve: (value) => value === 'auto',
  minVersion: (value) => value === 'TLSv1' || value === 'TLSv1.1' || value === 'TLSv1.2',
}

/** @throws Error that names an option which would have no effect, where code relies on it */
export function refuseOptions(module: 'net' | 'tls' | 'http', options: object): void {
  const refused = module === 'net' ? ofNet : module === 'tls' ? { ...ofNet, ...ofTls } : ofRequests
  for (const [name, reason] of Object.entries(refused)) {
    const value: unknown = (options as Record<string, unknown>)[name]
    if (value === undefined || value === null || value === false) continue
    if (isNeedless[name]?.(value)) continue
    throw codedError('ERR_METHOD_NOT_IMPLEMENTED', `The option ${name} has no effect in isolates: ${reason}`)
  }
}

/** Node's check, which code may name as the one that it wants. */
export const checkServerIdentity = Object.assign(
  (): never => {
    throw codedError('ERR_METHOD_NOT_IMPLEMENTED', `tls.checkServerIdentity is not available here: ${platformVerifies}`)
  },
  { [ofPlatform]: true },
)
