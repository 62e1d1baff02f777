import { useCallback, useEffect, useState } from "react";
import { request } from "../api/client";

export interface OrderSummary {
  id: number;
  status: string;
  createdAt: string;
  totalMinor: number;
  currency: string;
}

/** Loads the orders of a status and reloads them every half minute while the tab is visible. */
export function useOrders(status: string) {
  const [orders, setOrders] = useState<OrderSummary[]>([]);
  const [error, setError] = useState<Error | null>(null);

  const reload = useCallback(
    async (signal?: AbortSignal) => {
      try {
        setOrders(await request<OrderSummary[]>(`orders?status=${encodeURIComponent(status)}`, { signal }));
        setError(null);
      } catch (caught) {
        if (!signal?.aborted) {
          setError(caught as Error);
        }
      }
    },
    [status],
  );

  useEffect(() => {
    const controller = new AbortController();
    void reload(controller.signal);
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") {
        void reload(controller.signal);
      }
    }, 30_000);
    return () => {
      controller.abort();
      clearInterval(timer);
    };
  }, [reload]);

  const cancelOrder = useCallback(
    async (id: number, reason: string) => {
      await request(`orders/${id}/cancel`, { method: "POST", body: { reason } });
      await reload();
    },
    [reload],
  );

  return { orders, error, reload, cancelOrder };
}
