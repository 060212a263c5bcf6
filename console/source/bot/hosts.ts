/**
 * The hosts in the text of a field, one per line. The platform checks them further.
 *
 * @throws Error that names an entry that is none, such as a whole address
 */
export function readHosts(text: string): string[] {
  const hosts = text.split(/[\s,]+/).filter(Boolean)
  const wrong = hosts.find((host) => !/^[\w*.:-]+$/.test(host))
  if (wrong === undefined) return hosts
  throw new Error(`“${wrong}” is not a host. Write it without scheme and path, such as api.example.com.`)
}
