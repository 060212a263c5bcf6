import { secretForms } from '../protocol/redact-secrets.ts'
import { indexIn, sliceText } from './primordials.ts'

let secrets: string[] = []

/** Sets the secrets. Must run before any bot code. */
export function keepSecret(environment: Record<string, string>): void {
  secrets = secretForms(environment)
}

/**
 * Redacts secrets in a text that will be cut. The worker redacts everything else, but would not recognise half a
 * secret.
 */
export function redact(text: string): string {
  let redacted = text
  for (let index = 0; index < secrets.length; index += 1) redacted = without(redacted, secrets[index]!)
  return redacted
}

function without(text: string, secret: string): string {
  let rest = ''
  let start = 0
  for (let at = indexIn(text, secret); at !== -1; at = indexIn(text, secret, start)) {
    rest += `${sliceText(text, start, at)}***`
    start = at + secret.length
  }
  return start === 0 ? text : rest + sliceText(text, start)
}
