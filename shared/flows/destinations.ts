/** A destination, parsed. Without a flow, the node is one of the same flow; without a node, the flow’s start. */
export interface Destination {
  flow?: string
  node?: string
}

/** @param text `node`, `flow/node` or `flow/` */
export function readDestination(text: string): Destination {
  const slash = text.indexOf('/')
  if (slash < 0) return { node: text }
  const flow = text.slice(0, slash)
  return slash === text.length - 1 ? { flow } : { flow, node: text.slice(slash + 1) }
}
