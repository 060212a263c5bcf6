/** The fields of GitHub’s deliveries that the messages need. */
export interface Delivery {
  action?: string
  zen?: string
  repository?: { full_name: string }
  sender?: { login: string; avatar_url?: string }
  issue?: Subject
  pull_request?: Subject & { merged?: boolean }
}

interface Subject {
  number: number
  title: string
  html_url: string
}

/** The actions that are announced; others, such as labels, would be too many messages. */
const announced = ['opened', 'closed', 'reopened']

/**
 * The text of a message about a delivery.
 *
 * @param type the value of `X-GitHub-Event`
 * @returns undefined when there is nothing to announce
 */
export function describe(
  type: string,
  { action = '', zen, repository, sender, issue, pull_request }: Delivery,
): string | undefined {
  const who = sender?.login ?? 'Somebody'
  if (type === 'ping') return `${repository?.full_name} is connected: ${zen}`
  if (!announced.includes(action)) return undefined
  if (type === 'issues' && issue) return `${who} ${action} the issue ${titleOf(issue)}`
  if (type === 'pull_request' && pull_request) {
    const done = action === 'closed' && pull_request.merged ? 'merged' : action
    return `${who} ${done} the pull request ${titleOf(pull_request)}`
  }
  return undefined
}

function titleOf({ number, title, html_url: url }: Subject): string {
  return `#${number} “${title}” ${url}`
}
