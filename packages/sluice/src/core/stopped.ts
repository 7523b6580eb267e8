/** Why a call was stopped, as something to throw: our own reason, or a plain cancellation by whoever holds the controller. */

import { RpcError } from './error.ts'

export const stopped = ({ reason }: AbortSignal): RpcError =>
  reason instanceof RpcError ? reason : new RpcError('cancelled', 'Cancelled')
