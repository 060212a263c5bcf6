import type { Dispatcher } from 'undici'

/**
 * An interceptor of undici (8.12 and 8.13 need it) that ends a response at its last byte. Without it, undici fails a
 * response of which all bytes have come with "other side closed" where its reader is slow and the server closes the
 * connection meanwhile: a pause that the reader asks for at the last chunk delays the end of the response as well.
 */
export const completeResponses: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
  dispatch(options, withoutLastPause(handler))

function withoutLastPause(handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler {
  let left = NaN
  return {
    onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
    onRequestUpgrade: (...upgrade) => handler.onRequestUpgrade?.(...upgrade),
    onResponseStarted: () => handler.onResponseStarted?.(),
    onBodySent: (chunk) => handler.onBodySent?.(chunk),
    onRequestSent: () => handler.onRequestSent?.(),
    onResponseStart(controller, status, headers, statusText) {
      left = Number(headers['content-length'] ?? NaN)
      handler.onResponseStart?.(controller, status, headers, statusText)
    },
    onResponseData(controller, chunk) {
      left -= chunk.length
      handler.onResponseData?.(left === 0 ? unpausable(controller) : controller, chunk)
    },
    onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(controller, trailers),
    onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
  }
}

/** The last chunk needs no pause: nothing follows that could take memory. */
function unpausable(controller: Dispatcher.DispatchController): Dispatcher.DispatchController {
  return {
    get aborted() {
      return controller.aborted
    },
    get paused() {
      return controller.paused
    },
    get reason() {
      return controller.reason
    },
    abort: (reason) => controller.abort(reason),
    pause: () => {},
    resume: () => controller.resume(),
  }
}
