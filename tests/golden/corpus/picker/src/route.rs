//! Orders the stops of a walk: nearest neighbour first, then 2-opt until nothing gets shorter.

pub mod grid;

use grid::{Cell, Grid};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    pub stops: Vec<Cell>,
    pub steps: usize,
}

/// Returns the walk from the packing table through every stop and back; None when a stop cannot be reached.
pub fn plan_route(grid: &Grid, table: Cell, stops: &[Cell]) -> Option<Route> {
    let mut points = vec![table];
    points.extend_from_slice(stops);
    let distances = distance_matrix(grid, &points)?;
    let mut tour = nearest_neighbour(&distances);
    two_opt(&mut tour, &distances);
    let steps = tour_length(&tour, &distances);
    Some(Route { stops: tour[1..].iter().map(|&index| points[index]).collect(), steps })
}

fn distance_matrix(grid: &Grid, points: &[Cell]) -> Option<Vec<Vec<usize>>> {
    points
        .iter()
        .map(|&from| points.iter().map(|&to| grid.walking_distance(from, to)).collect())
        .collect()
}

fn nearest_neighbour(distances: &[Vec<usize>]) -> Vec<usize> {
    let mut tour = vec![0];
    let mut left: Vec<usize> = (1..distances.len()).collect();
    while !left.is_empty() {
        let here = tour[tour.len() - 1];
        let place = (0..left.len()).min_by_key(|&place| distances[here][left[place]]).unwrap_or(0);
        tour.push(left.swap_remove(place));
    }
    tour
}

/// Reverses a piece of the tour wherever that makes it shorter, and stops when no reversal does.
fn two_opt(tour: &mut [usize], distances: &[Vec<usize>]) {
    let mut improved = true;
    while improved {
        improved = false;
        for start in 1..tour.len().saturating_sub(1) {
            for end in start + 1..tour.len() {
                let before = tour_length(tour, distances);
                tour[start..=end].reverse();
                if tour_length(tour, distances) < before {
                    improved = true;
                } else {
                    tour[start..=end].reverse();
                }
            }
        }
    }
}

fn tour_length(tour: &[usize], distances: &[Vec<usize>]) -> usize {
    let there: usize = tour.windows(2).map(|pair| distances[pair[0]][pair[1]]).sum();
    there + distances[tour[tour.len() - 1]][tour[0]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detour_around_a_shelf_is_counted() {
        let grid = Grid::parse("...\n.#.\n...").unwrap();
        let route = plan_route(&grid, Cell { row: 1, column: 0 }, &[Cell { row: 1, column: 2 }]).unwrap();
        assert_eq!(route.steps, 8);
    }

    #[test]
    fn a_walled_in_stop_gives_no_route() {
        let grid = Grid::parse("..#\n.#.").unwrap();
        assert_eq!(plan_route(&grid, Cell { row: 0, column: 0 }, &[Cell { row: 1, column: 2 }]), None);
    }
}
