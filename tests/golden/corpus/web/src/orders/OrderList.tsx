import { useState } from "react";
import { debounce } from "../lib/debounce";
import { formatMoney } from "../lib/formatMoney";
import { type OrderSummary, useOrders } from "./useOrders";

interface Props {
  status: string;
  onOpen: (id: number) => void;
}

function matches(order: OrderSummary, filter: string): boolean {
  return filter === "" || String(order.id).startsWith(filter);
}

/** The table of orders, with a box that filters by number as you type. */
export function OrderList({ status, onOpen }: Props) {
  const { orders, error, cancelOrder } = useOrders(status);
  const [filter, setFilter] = useState("");
  const onType = debounce((text: string) => setFilter(text.trim()), 200);

  if (error) {
    return <p role="alert">The orders cannot be loaded: {error.message}</p>;
  }
  return (
    <section>
      <input placeholder="Order number" onChange={(event) => onType(event.target.value)} />
      <table>
        <tbody>
          {orders
            .filter((order) => matches(order, filter))
            .map((order) => (
              <tr key={order.id} onClick={() => onOpen(order.id)}>
                <td>{order.id}</td>
                <td>{order.status}</td>
                <td>{formatMoney(order.totalMinor, order.currency)}</td>
                <td>
                  <button onClick={() => void cancelOrder(order.id, "cancelled by a clerk")}>Cancel</button>
                </td>
              </tr>
            ))}
        </tbody>
      </table>
    </section>
  );
}
