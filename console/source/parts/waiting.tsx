import type { JSX } from 'preact'

/** Says beside the button of a form that its action takes long. */
export function Waiting({ isBusy }: { isBusy: boolean }): JSX.Element {
  return <span role="status">{isBusy && <span class="late quiet">Waiting for the server …</span>}</span>
}
