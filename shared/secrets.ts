import { createHash, createHmac } from 'node:crypto'

/** What is kept of a token: enough to know it again, not enough to use it. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/**
 * The key that signs a chat installation's user keys. Whoever is given it may sign keys for that installation, and
 * for no other. It is derived, so that it is stored nowhere and the same on every process.
 *
 * @param secret the platform's own secret
 */
export function sharedEncryptionKey(secret: string, installationId: string): string {
  return createHmac('sha256', secret).update(`shared encryption key of ${installationId}`).digest('base64url')
}
