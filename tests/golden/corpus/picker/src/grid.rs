//! The floor plan: aisles that can be walked, shelves that cannot.

use std::collections::VecDeque;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cell {
    pub row: usize,
    pub column: usize,
}

pub struct Grid {
    rows: usize,
    columns: usize,
    blocked: Vec<bool>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum PlanError {
    /// The rows of the drawing have different lengths.
    Ragged { row: usize },
    Empty,
}

impl Grid {
    /// Reads a floor plan that is drawn with `#` for shelves and `.` for aisles.
    pub fn parse(drawing: &str) -> Result<Grid, PlanError> {
        let lines: Vec<&str> = drawing.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let columns = lines.first().ok_or(PlanError::Empty)?.len();
        let mut blocked = Vec::with_capacity(lines.len() * columns);
        for (row, line) in lines.iter().enumerate() {
            if line.len() != columns {
                return Err(PlanError::Ragged { row });
            }
            blocked.extend(line.bytes().map(|byte| byte == b'#'));
        }
        Ok(Grid { rows: lines.len(), columns, blocked })
    }

    pub fn is_open(&self, cell: Cell) -> bool {
        cell.row < self.rows && cell.column < self.columns && !self.blocked[cell.row * self.columns + cell.column]
    }

    /// Returns how many steps it takes from one cell to another around the shelves, None if there is no way.
    pub fn walking_distance(&self, from: Cell, to: Cell) -> Option<usize> {
        let mut distance = vec![usize::MAX; self.rows * self.columns];
        let mut queue = VecDeque::from([from]);
        distance[from.row * self.columns + from.column] = 0;
        while let Some(cell) = queue.pop_front() {
            let steps = distance[cell.row * self.columns + cell.column];
            if cell == to {
                return Some(steps);
            }
            for next in self.neighbours(cell) {
                let known = &mut distance[next.row * self.columns + next.column];
                if *known == usize::MAX {
                    *known = steps + 1;
                    queue.push_back(next);
                }
            }
        }
        None
    }

    fn neighbours(&self, cell: Cell) -> impl Iterator<Item = Cell> + '_ {
        let Cell { row, column } = cell;
        [
            (row.wrapping_sub(1), column),
            (row + 1, column),
            (row, column.wrapping_sub(1)),
            (row, column + 1),
        ]
        .into_iter()
        .map(|(row, column)| Cell { row, column })
        .filter(|next| self.is_open(*next))
    }
}
