//! What happens when: links, timers and what is to happen to traffic.

pub(crate) mod alarm;
pub(crate) mod arrival_times;
pub(crate) mod beat;
pub(crate) mod due_link;
pub(crate) mod link_schedule;
pub(crate) mod ranks;
pub(crate) mod scheduler;
pub(crate) mod timers_by_period;
pub(crate) mod traffic_agenda;
pub(crate) mod used_places;
pub(crate) mod waiting_timers;
pub(crate) mod wheel;
