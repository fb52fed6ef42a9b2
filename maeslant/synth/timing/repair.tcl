# SPDX-License-Identifier: Apache-2.0
#
# Changes a mapped netlist until its slack gets no better: OpenSTA commands, for repair.py.
# What was changed is told in lines: edit size CELL KIND; edit move PIN LIKE (to the net of that pin);
# edit buffer CELL KIND IN OUT LIKE.
#
# Set before: larger(CELL): the next size of a cell; is_buffer(CELL): the cell is a buffer with this
# input pin; buffer, buffer_in, buffer_out: the buffer that loads are put behind, and its pins.

# A change is kept if the sum of all negative slacks shrinks by more than what is only noise.
proc better {} {
  global sum trials
  incr trials
  set new [total_negative_slack]
  if {$new - $sum <= max(1e-5, -2e-4 * $sum)} { return 0 }
  set sum $new
  return 1
}

# The cells of a path, slowest first: their output pins and the pins that the path goes on to.
proc stages {end} {
  set found {}
  set before 0.0
  set out ""
  foreach point [get_property $end points] {
    set pin [get_property $point pin]
    set name [get_full_name $pin]
    if {[string first / $name] < 0} { continue }
    set at [get_property $point arrival]
    if {[get_property $pin direction] eq "input"} {
      if {$out ne ""} { lappend found [list $delay $out $name] }
      set out ""
    } else {
      set delay [expr {$at - $before}]
      set before $at
      set out $name
    }
  }
  if {$out ne ""} { lappend found [list $delay $out ""] }
  return [lsort -decreasing -real -index 0 $found]
}

proc cell_of {pin} { return [get_cells [string range $pin 0 [string last / $pin]-1]] }

# A larger size, up to two steps.
proc resize {out} {
  global larger
  set cell [cell_of $out]
  set kind [get_property $cell ref_name]
  set tried $kind
  for {set step 0} {$step < 2 && [info exists larger($tried)]} {incr step} {
    set tried $larger($tried)
    replace_cell $cell $tried
    if {[better]} {
      puts "edit size [get_full_name $cell] $tried"
      return 1
    }
  }
  if {$tried ne $kind} { replace_cell $cell $kind }
  return 0
}

proc move {pins from to} {
  foreach pin $pins {
    disconnect_pin $from [get_pins $pin]
    connect_pin $to [get_pins $pin]
  }
}

# The path's next pin goes to what drives the buffer before it.
proc bypass {out next} {
  global is_buffer
  set cell [cell_of $out]
  set kind [get_property $cell ref_name]
  if {![info exists is_buffer($kind)]} { return 0 }
  set behind [get_nets -of_objects [get_pins $out]]
  set in "[get_full_name $cell]/$is_buffer($kind)"
  set before [get_nets -of_objects [get_pins $in]]
  move [list $next] $behind $before
  if {[better]} {
    puts "edit move $next $in"
    return 1
  }
  move [list $next] $before $behind
  return 0
}

# All loads but the path's next pin go behind a buffer.
proc isolate {out next} {
  global buffer buffer_in buffer_out made
  set net [get_nets -of_objects [get_pins $out]]
  set loads {}
  foreach pin [get_pins -of_objects $net] {
    set name [get_full_name $pin]
    if {$name ne $out && $name ne $next} { lappend loads $name }
  }
  if {[llength $loads] < 3} { return 0 }
  set name "apart_[incr made]"
  make_instance $name $buffer
  set behind [make_net "${name}_net"]
  connect_pin $net [get_pins "$name/$buffer_in"]
  connect_pin $behind [get_pins "$name/$buffer_out"]
  move $loads $net $behind
  if {[better]} {
    puts "edit buffer $name $buffer $buffer_in $buffer_out $out"
    foreach pin $loads { puts "edit move $pin $name/$buffer_out" }
    return 1
  }
  move $loads $behind $net
  disconnect_pin $net [get_pins "$name/$buffer_in"]
  disconnect_pin $behind [get_pins "$name/$buffer_out"]
  delete_instance $name
  delete_net "${name}_net"
  return 0
}

# Whether something on a path got better.
proc mend {end} {
  set kept 0
  foreach stage [stages $end] {
    lassign $stage delay out next
    incr kept [resize $out]
    if {$next ne ""} {
      incr kept [bypass $out $next]
      incr kept [isolate $out $next]
    }
  }
  return $kept
}

# Towards a period of goal ns, by small steps from start ns on; paths: how many are looked at, the
# worst first, until one gets better.
proc repair {clocks start goal most paths} {
  global sum trials made
  set trials 0
  set made 0
  set reached $start
  while {$reached > $goal && $trials < $most} {
    set target [expr {max($goal, 0.97 * $reached)}]
    foreach clock $clocks {
      if {$clock eq "virtual"} { create_clock -name $clock -period $target } \
      else { create_clock -name $clock -period $target [get_ports $clock] }
    }
    set sum [total_negative_slack]
    set stuck 0
    # The sum is kept up step by step and comes back to 0 only nearly.
    while {[worst_slack] < 0 && !$stuck && $trials < $most} {
      set stuck 1
      foreach end [find_timing_paths -path_delay max -group_count $paths] {
        if {[mend $end]} {
          set stuck 0
          break
        }
      }
    }
    set reached [expr {$target - [worst_slack]}]
    puts "repair: $target ns asked, $reached ns reached after $trials trials, $made buffers tried"
    if {$stuck} { break }
  }
}
